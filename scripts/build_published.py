"""Carry the paper's printed figures into `src/pwlr/data/published.json`, with their source.

Usage: ``python scripts/build_published.py published_results.json [pwlr.tex] [--check]``.
The cells of the result tables and the dimension table come from the first file; the digits of the worked example are
read from the LaTeX of the paper, which is looked for beside it. Columns, doubts and notes are written by hand and stay
as they are. ``--check`` changes nothing and fails if a figure differs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from pathlib import Path
from typing import Any

PUBLISHED = Path(__file__).parents[1] / "src" / "pwlr" / "data" / "published.json"
NUMBER = re.compile(r"\d+(?:\.\d+)?")
NOT_COLUMNS = ("dimensions", "main_text_table")


def as_text(value: Any, indent: int = 0) -> str:
    """JSON with one line for each innermost mapping or list, so that changes show line by line."""
    items = list(value.items() if isinstance(value, dict) else enumerate(value))
    if all(not isinstance(item, dict | list) or _flat_list(item) for _, item in items):
        return json.dumps(value, ensure_ascii=False)
    pad = " " * (indent + 2)
    lines = []
    for key, item in items:
        text = as_text(item, indent + 2) if isinstance(item, dict | list) else json.dumps(item, ensure_ascii=False)
        lines.append(f"{pad}{json.dumps(key)}: {text}" if isinstance(value, dict) else f"{pad}{text}")
    first, last = "{}" if isinstance(value, dict) else "[]"
    return "\n".join([first, ",\n".join(lines), " " * indent + last])


def _flat_list(item: Any) -> bool:
    return isinstance(item, list) and not any(isinstance(entry, dict | list) for entry in item)


def results(printed: dict[str, Any]) -> dict[str, Any]:
    """Cells of the appendix tables, by column and method."""
    return {column: cells for column, cells in printed.items() if column not in NOT_COLUMNS}


def dimensions(printed: dict[str, Any]) -> dict[str, Any]:
    """Printed statistics and dimensions of every data set; what was measured elsewhere stays behind."""
    return {
        dataset: {"printed_in": entry["printed_in"], "values": entry["paper"]}
        for dataset, entry in printed["dimensions"].items()
    }


def example(latex: str) -> dict[str, Any]:
    """Digits of the worked example's table, as printed, and the degree pairs over its columns."""
    table = latex[latex.index(r"\label{tab:example_24}") :]
    table = table[: table.index(r"\end{tabular}")]
    rows = [line.split("&") for line in table.splitlines() if line.count("&") == 4 and "varphi" not in line]
    header, *body = [row for row in rows if "vdots" not in row[0]]
    pairs = NUMBER.findall(header[-1])
    return {
        "degree_pairs": [",".join(pair) for pair in zip(pairs[::2], pairs[1::2], strict=True)],
        "rows": [
            {
                "k2": "inf" if "infty" in k2 else NUMBER.findall(k2)[0],
                **{
                    name: NUMBER.findall(cell)
                    for name, cell in zip(("h0", "h1", "opt_h0", "opt_h1"), cells, strict=True)
                },
            }
            for k2, *cells in body
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("published", type=Path, help="published_results.json")
    parser.add_argument("latex", type=Path, nargs="?", help="default: pwlr.tex in the same folder")
    parser.add_argument("--check", action="store_true", help="compare only")
    options = parser.parse_args()
    latex = options.latex or options.published.with_name("pwlr.tex")
    printed = json.loads(options.published.read_text(encoding="utf-8"))
    before = PUBLISHED.read_text(encoding="utf-8")
    document = json.loads(before)
    document["source"] = {
        path.name: {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()} for path in (options.published, latex)
    }
    document["results"] = results(printed)
    document["main_text"] = {"differs_from_appendix": printed["main_text_table"]["differs_from_appendix"]}
    document["dimensions"] = dimensions(printed)
    document["example"] = example(latex.read_text(encoding="utf-8"))
    after = as_text(document) + "\n"
    if options.check and after != before:
        raise SystemExit(f"{PUBLISHED} does not agree with {options.published} and {latex}")
    if not options.check:
        PUBLISHED.write_text(after, encoding="utf-8")
    print(f"{sum(map(len, document['results'].values()))} cells, {len(document['dimensions'])} data sets")


if __name__ == "__main__":
    main()
