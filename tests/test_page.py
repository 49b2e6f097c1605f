"""Pages: every text is escaped, every table keeps its shape."""

import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest

from pwlr.viz.page import Page, Section, to_html, to_markdown

HOSTILE = '<script>alert("1")</script><img src=x onerror=alert(1)> & \'quoted\' "twice" </td></table></style>'


class Reader(HTMLParser):
    """Collects tags, attributes and the texts of cells."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.texts, self.open = [], [], {}, []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.open.append(tag)
        if tag in ("td", "th", "p", "h1", "h2", "title"):
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if self.open and self.open[-1] in self.texts:
            self.texts[self.open[-1]][-1] += data


@pytest.fixture
def page():
    section = Section(
        HOSTILE, (HOSTILE, "b"), [["1", HOSTILE], ["a|b", "± 0.5"]], before=[HOSTILE], after=["x: " + HOSTILE]
    )
    return Page(HOSTILE, [HOSTILE], [section, Section("empty", ("a",))])


def test_hostile_names_do_not_run_in_html(page):
    found = Reader(to_html(page))
    assert "script" not in found.tags
    assert "img" not in found.tags
    assert not any(name.startswith("on") for name, _ in found.attributes)
    assert found.texts["td"] == ["1", HOSTILE, "a|b", "± 0.5"]
    assert found.texts["th"] == [HOSTILE, "b"]
    assert found.texts["h1"] == found.texts["title"] == [HOSTILE]
    assert found.texts["h2"] == [HOSTILE, "empty"]
    assert found.texts["p"] == [HOSTILE, HOSTILE, "x: " + HOSTILE]
    assert found.tags.count("table") == 1  # a section without rows has none


def test_html_is_self_contained_and_well_formed(page):
    text = to_html(page)
    assert text.startswith("<!doctype html>")
    assert not {"src", "href"} & {name for name, _ in Reader(text).attributes}
    assert "@import" not in text
    assert "url(" not in text
    body = text[text.index("<body>") : text.index("</body>") + len("</body>")]
    assert ET.fromstring(body).tag == "body"  # every tag is closed


def test_pipes_and_line_breaks_do_not_break_a_markdown_table():
    section = Section("T", ("a|b", "c"), [["1|2", "3\n4"], ["|", "5\r\n6"]])
    lines = [line for line in to_markdown(Page("P", sections=[section])).splitlines() if line.startswith("|")]
    assert lines == [r"| a\|b | c |", "| --- | --- |", r"| 1\|2 | 3 4 |", r"| \| | 5 6 |"]


def test_markdown_reads_in_order():
    section = Section("T", ("a",), [["1"]], before=["before"], after=["after"])
    assert to_markdown(Page("P", ["intro"], [section, Section("E", ("a",))])) == (
        "# P\n\nintro\n\n## T\n\nbefore\n\n| a |\n| --- |\n| 1 |\n\nafter\n\n## E\n"
    )


def test_an_empty_page():
    assert to_markdown(Page("P")) == "# P\n"
    assert Reader(to_html(Page("P"))).texts == {"title": ["P"], "h1": ["P"]}
