"""Make a store again from exported units, so that `pwlr reproduce` goes on where a measuring session ended.

python scripts/restore_store.py docs/results/units.csv.xz pwlr-results.sqlite
"""

from __future__ import annotations

import argparse
import csv
import json
import lzma
import sys
from pathlib import Path
from typing import Any

from pwlr.experiments.spec import Spec
from pwlr.experiments.store import Store, Unit

SPECS = [Spec(protocol, twins=twins) for protocol in ("paper", "nested") for twins in ("keep", "group", "drop")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("units", type=Path, help="what pwlr results --units exported, packed with xz")
    parser.add_argument("store", type=Path, help="file to write")
    arguments = parser.parse_args()
    with lzma.open(arguments.units, "rt", encoding="utf-8", newline="") as file:
        units = [unit_of(row) for row in csv.DictReader(file)]
    known = {spec.run_id: spec for spec in SPECS}
    unknown = {unit.run_id for unit in units} - set(known)
    if unknown:
        sys.exit(f"protocol {sorted(unknown)[0]} is none of the default ones: its description is not in the export")
    store = Store(arguments.store)
    for run_id in dict.fromkeys(unit.run_id for unit in units):
        store.add_protocol(known[run_id])
    store.add(units)
    print(f"{arguments.store}: {len(units):,} units")


def unit_of(row: dict[str, Any]) -> Unit:
    numbers: dict[str, Any] = {key: int(row[key]) for key in ("repetition", "fold", "n_test", "n_columns")}
    numbers |= {key: float(row[key]) for key in ("accuracy", "seconds")}
    numbers["selection"] = float(row["selection"]) if row["selection"] else None
    records = {key: json.loads(row[key]) for key in ("chosen", "versions")}
    return Unit(**{**row, **numbers, **records})


if __name__ == "__main__":
    main()
