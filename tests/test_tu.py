"""The TU text format: what is read, how it is mended or refused, and zips that mean harm."""

import stat
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pwlr.errors import GraphFormatError, OptionError, PwlrWarning
from pwlr.graphs import GraphBatch
from pwlr.io import tu
from pwlr.io.tu import read_tu, set_names, write_tu

# A triangle with a tail node (nodes 1 to 4) and one edge beside an isolated last node (nodes 5 to 7).
SMALL = {
    "A": "1, 2\n2, 1\n1, 3\n3, 1\n2, 3\n3, 2\n3, 4\n4, 3\n5, 6\n6, 5\n",
    "graph_indicator": "1\n1\n1\n1\n2\n2\n2\n",
    "graph_labels": "1\n-1\n",
    "node_labels": "6\n6\n8\n1\n6\n7\n9\n",
    "edge_labels": "0\n0\n1\n1\n0\n0\n2\n2\n1\n1\n",
    "node_attributes": "".join(f"{i}.5, -{i}e-1\n" for i in range(7)),
    "edge_attributes": "".join(f"{i // 2}.25\n" for i in range(10)),
}


@pytest.fixture
def write(tmp_path):
    """Write a data set and return its folder; None leaves a file out."""

    def write(name="SMALL", folder="any name", **changes):
        place = tmp_path / folder
        place.mkdir(parents=True, exist_ok=True)
        for part, text in {**SMALL, **changes}.items():
            if text is not None:
                (place / f"{name}_{part}.txt").write_bytes(text.encode() if isinstance(text, str) else text)
        return place

    return write


@pytest.fixture
def small(write):
    return read_tu(write())


def zip_of(path, members, **options):
    with zipfile.ZipFile(path, "w", **{"compression": zipfile.ZIP_DEFLATED, **options}) as archive:
        for member, text in members.items():
            archive.writestr(member, text)
    return path


def members(name="SMALL", start="SMALL/", **changes):
    return {f"{start}{name}_{part}.txt": text for part, text in {**SMALL, **changes}.items() if text is not None}


def only(**files):
    """Leave out every file but these."""
    return {**dict.fromkeys(SMALL), **files}


# -- what is read ------------------------------------------------------------------------------------------------------


def test_all_files(small):
    assert repr(small).startswith("GraphBatch(SMALL: 2 graphs, 7 nodes, 5 edges; node labels: 5 kinds")
    assert small.node_ptr.tolist() == [0, 4, 7]
    assert small.edges.tolist() == [[0, 1], [0, 2], [1, 2], [2, 3], [4, 5]]
    assert small.edge_labels.tolist() == [0, 1, 0, 2, 1]
    assert small.edge_attributes.tolist() == [[0.25], [1.25], [2.25], [3.25], [4.25]]
    assert small.node_labels.tolist() == [6, 6, 8, 1, 6, 7, 9]
    assert small.node_attributes[6].tolist() == [6.5, -0.6]
    assert small.y.tolist() == [1, -1]
    assert small.degrees[-1] == 0
    assert (small.weights == 1).all()
    assert small.ids is None


def test_only_the_two_files_that_must_be_there(write):
    batch = read_tu(write(**only(A=SMALL["A"], graph_indicator=SMALL["graph_indicator"])))
    assert repr(batch) == "GraphBatch(SMALL: 2 graphs, 7 nodes, 5 edges)"


@pytest.mark.parametrize(
    "dirt",
    [
        lambda text: text.rstrip("\n"),
        lambda text: text + "\n\n  \n",
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r\n").rstrip(),
        lambda text: text.replace(", ", ","),
        lambda text: text.replace(", ", " ,\t ").replace("\n", " \n"),
        lambda text: "\ufeff" + text,
    ],
    ids=["no final newline", "blank lines at the end", "CRLF", "CRLF, none at the end", "no spaces", "spaces", "BOM"],
)
def test_dirt_that_does_not_matter(write, small, dirt):
    assert read_tu(write(**{part: dirt(text) for part, text in SMALL.items()})) == small


def test_signs_of_classes(write):
    assert read_tu(write(graph_labels="+1\n-1\n")).y.tolist() == [1, -1]


@pytest.mark.parametrize(("start", "noise"), [("SMALL/", {}), ("SMALL//", {}), ("", {}), ("a/b/c/", {})])
def test_zips(tmp_path, small, start, noise):
    assert read_tu(zip_of(tmp_path / "x.zip", members(start=start))) == small


def test_what_else_lies_in_the_archive_does_not_matter(tmp_path, small):
    noise = {
        "SMALL/README.txt": "text",
        "SMALL/README.txt~": "older text",
        "__MACOSX/SMALL/._SMALL_A.txt": "\0",
        "SMALL/.SMALL_A.txt": "x",
        "SMALL/other.bin": b"\xff\xfe",
    }
    assert read_tu(zip_of(tmp_path / "renamed.zip", {**members(), **noise})) == small


def test_stored_zip_without_its_suffix(tmp_path, small):
    assert read_tu(zip_of(tmp_path / "archive", members(), compression=zipfile.ZIP_STORED)) == small


def test_folder_one_level_up(tmp_path, write, small):
    write(folder="root/raw")
    assert read_tu(tmp_path / "root") == small
    assert read_tu(str(tmp_path / "root"), name="SMALL") == small


def test_several_sets_in_one_place(tmp_path, write, small):
    folder = write()
    write(name="SMALL_2", graph_labels="3\n4\n")
    assert set_names(folder) == ["SMALL", "SMALL_2"]
    with pytest.raises(GraphFormatError, match=r"holds several data sets \(SMALL, SMALL_2\): choose one with name="):
        read_tu(folder)
    assert read_tu(folder, name="SMALL") == small
    assert read_tu(folder, name="SMALL_2").y.tolist() == [3, 4]
    with pytest.raises(GraphFormatError, match="holds no data set 'OTHER': it holds SMALL, SMALL_2"):
        read_tu(folder, name="OTHER")


def test_the_same_set_twice(tmp_path):
    archive = zip_of(tmp_path / "x.zip", {**members(start="a/"), **members(start="b/")})
    with pytest.raises(GraphFormatError, match=r"holds SMALL_A.txt more than once: keep one copy"):
        read_tu(archive)


def test_graph_batch_has_the_door(write, small):
    assert GraphBatch.from_tu(write()) == small


def test_one_graph_in_files_of_one_line(write):
    batch = read_tu(write(**only(A="", graph_indicator="1", graph_labels="5", node_attributes="1.5,2")))
    assert (batch.n_graphs, batch.n_nodes, batch.n_edges) == (1, 1, 0)
    assert batch.node_attributes.tolist() == [[1.5, 2.0]]
    assert batch.y.tolist() == [5]


def test_no_graphs_at_all(write):
    batch = read_tu(write(**only(A="", graph_indicator="")))
    assert (batch.n_graphs, batch.n_nodes) == (0, 0)


def test_graphs_without_nodes(write):
    batch = read_tu(write(**only(A="1,2\n2,1", graph_indicator="2\n2", graph_labels="0\n1\n0\n0")))
    assert batch.node_ptr.tolist() == [0, 0, 2, 2, 2]
    assert batch.y.tolist() == [0, 1, 0, 0]


def test_graphs_without_nodes_and_without_labels(write):
    batch = read_tu(write(**only(A="1,2\n2,1", graph_indicator="3\n3")))
    assert batch.node_ptr.tolist() == [0, 0, 0, 2]


# -- several columns, fractions, targets -------------------------------------------------------------------------------


def test_several_columns_of_labels_are_one_text(write):
    batch = read_tu(write(node_labels="0, 3\n0,3\n 0, -1\n1,3\n1,3\n1,3\n1,3", edge_labels="0,1\n" * 10))
    assert batch.node_labels.tolist() == ["0,3", "0,3", "0,-1", "1,3", "1,3", "1,3", "1,3"]
    assert set(batch.edge_labels) == {"0,1"}


def test_whole_numbers_written_as_fractions_are_labels(write, small):
    assert read_tu(write(node_labels="6.0\n6\n8.\n1\n6\n7e0\n9\n")) == small


def test_fractions_are_no_labels(write):
    with pytest.raises(GraphFormatError, match=r"SMALL_node_labels.txt line 3: label 8.5 is not a whole number"):
        read_tu(write(node_labels="6\n6\n8.5\n1\n6\n7\n9\n"))


def test_graph_labels_may_be_measured(write):
    batch = read_tu(write(graph_labels="0.5\n-1e-3\n"))
    assert batch.y.tolist() == [0.5, -0.001]
    assert read_tu(write(graph_labels="1.0\n2.0\n")).y.dtype == np.int64


def test_graph_attributes_are_the_target_where_there_are_no_labels(write):
    assert read_tu(write(graph_labels=None, graph_attributes="0.5\n1\n")).y.tolist() == [0.5, 1.0]
    assert read_tu(write(graph_attributes="0.5\n1\n")).y.tolist() == [1, -1]


def test_several_columns_of_graph_attributes_leave_y_open(write):
    with pytest.warns(PwlrWarning, match=r"SMALL_graph_attributes.txt has 2 columns: y stays empty") as caught:
        batch = read_tu(write(graph_labels=None, graph_attributes="0.5, 1\n1, 2\n"))
    assert batch.y is None
    assert caught[0].filename == __file__


# -- scattered nodes ---------------------------------------------------------------------------------------------------


def test_nodes_of_a_graph_need_not_be_neighbours_in_the_file(write):
    batch = read_tu(
        write(
            A="1, 3\n3, 1\n2, 4\n4, 2\n4, 5\n5, 4\n",
            graph_indicator="2\n1\n2\n1\n1\n",
            node_labels="10\n20\n30\n40\n50\n",
            node_attributes="1\n2\n3\n4\n5\n",
            edge_labels="7\n7\n8\n8\n9\n9\n",
            edge_attributes=None,
        )
    )
    assert batch.node_ptr.tolist() == [0, 3, 5]
    assert batch.node_labels.tolist() == [20, 40, 50, 10, 30]
    assert batch.node_attributes[:, 0].tolist() == [2, 4, 5, 1, 3]
    assert batch.edges.tolist() == [[0, 1], [1, 2], [3, 4]]
    assert batch.edge_labels.tolist() == [8, 9, 7]


def test_scattered_nodes_do_not_excuse_an_edge_between_graphs(write):
    with pytest.raises(
        GraphFormatError,
        match=r"SMALL_A.txt line 1: edge \(1, 2\) joins graph 1 and graph 2 of the graph indicator",
    ):
        read_tu(write(graph_indicator="1\n2\n1\n1\n2\n2\n2\n"))


# -- refused -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        (
            {"A": "1, 2\n2, 1\n0, 3\n"},
            r"SMALL_A.txt line 3: edge \(0, 3\) names node 0 but the nodes are 1 to 7; TU files",
        ),
        ({"A": "1, 8\n"}, r"SMALL_A.txt line 1: edge \(1, 8\) names node 8 .* TU files count nodes from 1"),
        ({"A": "1, 2\n2, 1\n4, 5\n5, 4"}, r"line 3: edge \(4, 5\) joins graph 1 and graph 2"),
        ({"A": "1, 2, 3\n"}, "SMALL_A.txt line 1: 3 values where 2 are wanted, separated by commas"),
        ({"A": "1, 2\n2 1\n"}, "SMALL_A.txt line 2: 1 values where 2 are wanted"),
        ({"A": "1, 2\n2, 1,\n"}, "SMALL_A.txt line 2: 3 values where 2 are wanted"),
        ({"A": "1, 2\n2, one\n"}, "SMALL_A.txt line 2: 'one' is not a whole number"),
        ({"A": "1, 2\n2, 1.5\n"}, "SMALL_A.txt line 2: '1.5' is not a whole number"),
        ({"A": "1, 2\n, 1\n"}, "SMALL_A.txt line 2: '' is not a whole number"),
        ({"A": "1, 2\n2, -\n"}, "SMALL_A.txt line 2: '-' is not a whole number"),
        ({"A": "1, 2\n2, 1_0\n"}, "'1_0' is not a whole number"),
        ({"A": b"1, 2\n2, \xff\n"}, "SMALL_A.txt line 2: .* is not a whole number"),
        ({"A": "1, 2\n\n2, 1\n"}, "SMALL_A.txt line 2: the line is blank"),
        ({"A": "1, 99999999999999999999\n"}, "line 1: 99999999999999999999 does not fit a 64-bit integer"),
        ({"graph_indicator": "1\n1\n1\n1\n0\n2\n2\n"}, "line 5: graph 0 does not exist; TU files count graphs from 1"),
        (
            {"graph_indicator": "1\n1\n1\n1\n2\n2\n3\n"},
            "line 7: graph 3 does not exist; SMALL_graph_labels.txt has 2 lines, one for each graph",
        ),
        (
            {"graph_indicator": "1\n1\n1\n1\n2\n2\n"},
            r"SMALL_node_labels.txt has 7 lines but SMALL_graph_indicator.txt has 6",
        ),
        ({"graph_indicator": None}, "SMALL_graph_indicator.txt is missing"),
        (
            {"graph_indicator": "1\n" * 4 + "999999999\n" * 3, "graph_labels": None},
            "graph 999999999 is far beyond the 7",
        ),
        ({"graph_labels": "yes\nno\n"}, "SMALL_graph_labels.txt line 1: 'yes' is not a whole number"),
        ({"graph_attributes": "1\n2\n3\n"}, "SMALL_graph_labels.txt has 2 lines but SMALL_graph_attributes.txt has 3"),
        (
            {"graph_labels": None, "graph_attributes": "nan\n1\n"},
            "SMALL_graph_attributes.txt line 1: 'nan' is not a finite",
        ),
        ({"node_labels": "6\n"}, r"SMALL_node_labels.txt has 1 lines but SMALL_graph_indicator.txt has 7"),
        ({"node_labels": "6\n6\nC\n1\n6\n7\n9\n"}, "SMALL_node_labels.txt line 3: 'C' is not a whole number"),
        ({"node_attributes": "1\n"}, "SMALL_node_attributes.txt has 1 lines"),
        (
            {"node_attributes": "1\n1\n1\n1\n1\n1\nnan"},
            "SMALL_node_attributes.txt line 7: 'nan' is not a finite number",
        ),
        (
            {"node_attributes": "1\ninf\n1\n1\n1\n1\n1"},
            "SMALL_node_attributes.txt line 2: 'inf' is not a finite number",
        ),
        ({"node_attributes": "1\n1e999\n1\n1\n1\n1\n1"}, "line 2: 1e999 does not fit a 64-bit floating point number"),
        ({"node_attributes": "1,1\n1\n1,1\n1,1\n1,1\n1,1\n1,1"}, "line 2: 1 values where 2 are wanted"),
        ({"node_attributes": "1\n\n1\n1\n1\n1\n1\n1"}, "SMALL_node_attributes.txt line 2: the line is blank"),
        ({"edge_labels": "0\n"}, r"SMALL_edge_labels.txt has 1 lines but SMALL_A.txt has 10"),
        ({"edge_attributes": "0\n"}, r"SMALL_edge_attributes.txt has 1 lines but SMALL_A.txt has 10"),
        ({"edge_labels": "0\n5\n" + "1\n" * 8}, r"SMALL, .* from 0: graph 0: edge \(0, 1\) has label 0 one way and 5"),
        ({"edge_attributes": "0\n5\n" + "1\n" * 8}, r"edge \(0, 1\) has attributes"),
    ],
)
def test_files_that_contradict_the_format(write, changes, match):
    with pytest.raises(GraphFormatError, match=match):
        read_tu(write(**changes))


@pytest.mark.parametrize(
    ("arcs", "match", "repair"),
    [
        ("1, 2\n2, 1\n6, 5\n", r"graph 1: edge \(1, 0\) goes one way only", "mirror-one-way"),
        ("1, 2\n2, 1\n1, 2\n5, 6\n6, 5", r"graph 0: edge \(0, 1\) is there more than once", "merge-duplicates"),
        ("1, 2\n2, 1\n3, 3\n5, 6\n6, 5", r"graph 0: edge \(2, 2\) is a self loop", "drop-self-loops"),
    ],
)
def test_arcs_that_can_be_mended(write, arcs, match, repair):
    folder = write(A=arcs, edge_labels=None, edge_attributes=None)
    with pytest.raises(GraphFormatError, match=match):
        read_tu(folder)
    assert read_tu(folder, repair=[repair]).edges.tolist() == [[0, 1], [4, 5]]


def test_repair_must_be_known(write):
    with pytest.raises(OptionError, match="repair='all' is not known"):
        read_tu(write(), repair=["all"])


@pytest.mark.parametrize("is_there", [False, True])
def test_places_without_a_data_set(tmp_path, is_there):
    place = tmp_path / "nothing"
    if is_there:
        place.mkdir()
    with pytest.raises(GraphFormatError, match=r"nothing (is neither a folder nor a zip file|holds no data set)"):
        read_tu(place)


def exact(line, whole):
    """Numbers of a line as Python reads them, None if it would not."""
    try:
        numbers = [int(field) if whole else float(field) for field in line.split(",")]
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() and "_" not in line else None


@given(st.lists(st.text("0123456789,+-. \te", min_size=1, max_size=6), min_size=1, max_size=4), st.booleans())
def test_the_fast_sweep_takes_nothing_that_a_slow_one_refuses(lines, whole):
    text = tu._Text("file", "\n".join(lines).encode())
    wanted = [exact(line, whole) for line in text.body.decode().split("\n")]
    legal = None not in wanted and len({len(row) for row in wanted}) == 1
    dtype = np.int64 if whole else np.float64
    if legal or not text.body:
        assert tu._table(text, dtype).tolist() == (wanted if text.body else [])
    else:
        with pytest.raises(GraphFormatError, match=r"^file line \d"):
            tu._table(text, dtype)


def test_files_that_may_not_be_read(write, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    folder = write()
    for method in ("read_bytes", "iterdir"):
        with monkeypatch.context() as patch:
            patch.setattr(Path, method, refuse)
            with pytest.raises(GraphFormatError, match="cannot be read: Permission denied"):
                read_tu(folder)


# -- zips that mean harm, or were harmed -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "member",
    ["../SMALL_A.txt", "/SMALL_A.txt", "a/../../SMALL_A.txt", "..\\SMALL_A.txt", "C:\\SMALL_A.txt", "C:/x.txt"],
)
def test_paths_that_climb_out(tmp_path, member):
    archive = zip_of(tmp_path / "x.zip", {**members(), member: "x"})
    with pytest.raises(GraphFormatError, match="has a path that climbs out of the archive"):
        read_tu(archive)
    assert [path.name for path in tmp_path.iterdir()] == ["x.zip"]


def test_symbolic_links(tmp_path):
    link = zipfile.ZipInfo("SMALL/SMALL_node_labels.txt")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    path = tmp_path / "x.zip"
    zip_of(path, members(node_labels=None))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(GraphFormatError, match=r"'SMALL/SMALL_node_labels.txt' is a symbolic link"):
        read_tu(path)


def patched(path, offset, size, value):
    """Overwrite a field of every entry of the central directory."""
    raw = bytearray(path.read_bytes())
    start = raw.find(b"PK\x01\x02")
    while start >= 0:
        raw[start + offset : start + offset + size] = value.to_bytes(size, "little")
        start = raw.find(b"PK\x01\x02", start + 4)
    path.write_bytes(raw)
    return path


@pytest.mark.parametrize(
    ("offset", "size", "value", "match"),
    [
        (8, 2, 1, "is encrypted"),
        (10, 2, 12, "is packed by another method than deflate"),
        (24, 4, 0xFFFFFFF0, r"unpacks to .* bytes, more than pwlr reads"),
        (24, 4, 0x10000000, "times its size, as no real data set does"),
        (24, 4, 2, "is not an intact zip archive"),
        (16, 4, 7, r"is not an intact zip archive \(Bad CRC-32"),
    ],
    ids=["encrypted", "bzip2", "absurd size", "absurd ratio", "too small a size", "checksum"],
)
def test_directories_that_lie(tmp_path, offset, size, value, match):
    archive = patched(zip_of(tmp_path / "x.zip", members()), offset, size, value)
    with pytest.raises(GraphFormatError, match=match):
        read_tu(archive)


def test_a_member_longer_than_it_says_is_not_read_to_its_end(tmp_path):
    """The size in the directory bounds what is unpacked, so a bomb cannot hide behind a small one."""
    bomb = zip_of(tmp_path / "x.zip", members(node_attributes="0" * 50_000_000))
    assert bomb.stat().st_size < 100_000
    archive = patched(bomb, 24, 4, 100)
    with pytest.raises(GraphFormatError, match=r"is not an intact zip archive"):
        read_tu(archive)


def test_a_bomb_that_does_not_lie(tmp_path):
    archive = zip_of(tmp_path / "x.zip", members(node_attributes="0" * (70 << 20)))
    with pytest.raises(GraphFormatError, match="times its size, as no real data set does"):
        read_tu(archive)


@pytest.mark.parametrize("text", [b"", b"not a zip", b"PK\x03\x04" + bytes(50)])
def test_files_that_are_no_zips(tmp_path, text):
    path = tmp_path / "x.zip"
    path.write_bytes(text)
    with pytest.raises(GraphFormatError, match=r"x.zip is not an intact zip archive \(.*\): download it again"):
        read_tu(path)


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9, 0.99])
def test_truncated_zips(tmp_path, part):
    path = zip_of(tmp_path / "x.zip", members())
    raw = path.read_bytes()
    path.write_bytes(raw[: int(part * len(raw))])
    with pytest.raises(GraphFormatError, match=r"is not an intact zip archive"):
        read_tu(path)


def test_damaged_stream(tmp_path):
    path = zip_of(tmp_path / "x.zip", members(A=SMALL["A"] * 50))
    raw = bytearray(path.read_bytes())
    (name_length,) = struct.unpack("<H", raw[26:28])
    raw[30 + name_length] ^= 0xFF
    path.write_bytes(raw)
    with pytest.raises(GraphFormatError, match=r"is not an intact zip archive"):
        read_tu(path)


# -- writing -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"graph_labels": None, "graph_attributes": "0.1\n-2.5e-8\n"},
        {"node_labels": "0,3\n" * 7},
        {"node_attributes": "0.1,0.30000000000000004\n" * 7},
        only(A="", graph_indicator="1\n1\n", graph_labels="0\n1\n2"),
    ],
)
def test_written_sets_read_back_equal(tmp_path, write, changes):
    batch = read_tu(write(**changes))
    folder = write_tu(batch, tmp_path / "new" / "SMALL")
    assert read_tu(folder) == batch
    assert [path.name for path in folder.parent.iterdir()] == ["SMALL"]


def test_written_under_another_name(tmp_path, small):
    assert read_tu(write_tu(small, tmp_path / "x", name="OTHER")).name == "OTHER"


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"node_labels": ["C"] * 7}, "node label 'C' cannot be written: TU files hold whole numbers"),
        ({"y": ["yes", "no"]}, "y 'yes' cannot be written"),
        ({"name": "a/b"}, "a data set cannot be called 'a/b'"),
        ({"name": ""}, "pass name="),
    ],
)
def test_what_the_format_cannot_say(tmp_path, small, change, match):
    with pytest.raises(GraphFormatError, match=match):
        write_tu(small.replace(**change), tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_weights_cannot_be_written(tmp_path):
    with pytest.raises(GraphFormatError, match="the TU format has no edge weights"):
        write_tu(GraphBatch.from_edges([[(0, 1)]], weights=[[2]], name="W"), tmp_path / "x")


def test_an_empty_last_graph_needs_y(tmp_path):
    with pytest.raises(GraphFormatError, match="the last graph has no nodes"):
        write_tu(GraphBatch.from_edges([[(0, 1)], []], name="W"), tmp_path / "x")


def test_yes_and_no_are_written_as_one_and_zero(tmp_path, small):
    assert read_tu(write_tu(small.replace(y=[True, False]), tmp_path / "x")).y.tolist() == [1, 0]


def test_nothing_is_overwritten(tmp_path, small, write):
    with pytest.raises(GraphFormatError, match="is there already"):
        write_tu(small, write())


# -- real data ---------------------------------------------------------------------------------------------------------


@pytest.mark.data
@pytest.mark.parametrize("name", ["BZR", "PTC_MM"])  # a doubled slash in the paths, edge labels
def test_zip_and_folder_read_the_same(data_dir, tmp_path, name):
    from_zip = read_tu(data_dir / f"{name}.zip")
    with zipfile.ZipFile(data_dir / f"{name}.zip") as archive:
        for member in archive.namelist():
            (tmp_path / member.rsplit("/", 1)[1]).write_bytes(archive.read(member))
    assert read_tu(tmp_path) == from_zip
    assert read_tu(write_tu(from_zip, tmp_path / "again" / "x")) == from_zip
