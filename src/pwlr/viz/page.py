"""Tables and text as a page, in Markdown or as one self-contained HTML file; nothing here computes."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = ["Page", "Section", "to_html", "to_markdown"]


@dataclass(frozen=True)
class Section:
    """A table with what a reader needs to know about it."""

    title: str
    headings: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    before: Sequence[str] = ()
    after: Sequence[str] = ()


@dataclass(frozen=True)
class Page:
    """A page: a title, paragraphs, sections."""

    title: str
    intro: Sequence[str] = ()
    sections: Sequence[Section] = field(default=())


_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 0.25rem 0.75rem; border-bottom: 1px solid #8886; text-align: right; white-space: nowrap; }
th:first-child, td:first-child, th:last-child, td:last-child { text-align: left; }
td:last-child { white-space: normal; }
th { border-bottom: 2px solid #888; }
code { font-size: 0.95em; }
@media print { body { max-width: none; margin: 0; } table { font-size: 9pt; } }
"""


def to_markdown(page: Page) -> str:
    """Write a page as Markdown."""
    parts = [f"# {page.title}", *page.intro]
    for section in page.sections:
        parts += [f"## {section.title}", *section.before]
        if section.rows:
            lines = [_line(section.headings), _line(["---"] * len(section.headings)), *map(_line, section.rows)]
            parts.append("\n".join(lines))
        parts += section.after
    return "\n\n".join(parts) + "\n"


def _line(cells: Sequence[str]) -> str:
    # a pipe would start another cell, a line break end the table
    return "| " + " | ".join(" ".join(cell.replace("|", "\\|").splitlines()) for cell in cells) + " |"


def to_html(page: Page) -> str:
    """Write a page as HTML with everything inside; every text is escaped, so names in data cannot run."""
    body = [f"<h1>{html.escape(page.title)}</h1>", *map(_paragraph, page.intro)]
    for section in page.sections:
        body += [f"<h2>{html.escape(section.title)}</h2>", *map(_paragraph, section.before)]
        if section.rows:
            head = "".join(f"<th>{html.escape(cell)}</th>" for cell in section.headings)
            lines = [
                "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in section.rows
            ]
            body.append(f'<div class="wide"><table><tr>{head}</tr>\n' + "\n".join(lines) + "\n</table></div>")
        body += map(_paragraph, section.after)
    title = f"<title>{html.escape(page.title)}</title>"
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width">{title}'
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}<style>{_STYLE}</style></head>\n<body>\n'
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _paragraph(text: str) -> str:
    return f"<p>{html.escape(text)}</p>"
