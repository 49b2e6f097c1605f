"""Fill in what is measured in `src/pwlr/data/catalogue.json`: counts and digest of every data set.

Usage: ``python scripts/build_catalogue.py FOLDER [--check]``, where FOLDER holds ``NAME.zip`` or ``NAME/`` of every
set.
Descriptions, citations, words for labels and recipes in the catalogue are written by hand and stay as they are.
``--check`` changes nothing and fails if a count or digest differs.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from pwlr.datasets import content_of
from pwlr.io.tu import read_tu

CATALOGUE = Path(__file__).parents[1] / "src" / "pwlr" / "data" / "catalogue.json"


def as_text(catalogue: dict[str, object]) -> str:
    """JSON with one line for each innermost mapping or list, so that changes show line by line."""
    return json.dumps(catalogue, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--check", action="store_true", help="compare only")
    options = parser.parse_args()
    before = CATALOGUE.read_text(encoding="utf-8")
    catalogue = json.loads(before)
    for name, entry in catalogue["datasets"].items():
        place = options.folder / name
        entry["content"] = content_of(read_tu(place if place.is_dir() else place.with_name(f"{name}.zip"), name=name))
        print(name, entry["content"])
    after = as_text(catalogue)
    if options.check and after != before:
        raise SystemExit(f"{CATALOGUE} does not agree with {options.folder}")
    if not options.check:
        CATALOGUE.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    main()
