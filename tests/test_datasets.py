"""Data sets by name: the catalogue, the recipes, the places, and downloads from a server that these tests start."""

import importlib.util
import io
import json
import re
import subprocess
import sys
import threading
import zipfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

import pwlr
from pwlr import datasets
from pwlr.datasets import (
    RECIPES,
    apply_recipe,
    available_datasets,
    content_digest,
    content_of,
    dataset_info,
    find_datasets,
    load_dataset,
)
from pwlr.errors import DatasetError, GraphFormatError, OptionError, PwlrError, PwlrWarning
from pwlr.graphs import GraphBatch
from pwlr.io.tu import read_tu, write_tu

SCRIPTS = Path(__file__).parents[1] / "scripts"
TINY = GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1)]], node_labels=[[0, 1, 0], [1, 1]], y=[0, 1], name="TINY")


@pytest.fixture(autouse=True)
def away_from_home(monkeypatch, tmp_path):
    """No test sees the user's data, and none can reach the network."""
    monkeypatch.delenv("PWLR_DATA_DIR", raising=False)
    monkeypatch.setenv("PWLR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PWLR_DATA_URL", "http://127.0.0.1:9")  # nothing listens there
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.chdir(tmp_path)


def zipped(batch, name=None):
    """Bytes of a zip of the batch in the TU format."""
    folder = Path("draft") / (name or batch.name)
    if not folder.exists():
        write_tu(batch, folder, name=name)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.iterdir()):
            archive.write(file, f"{folder.name}/{file.name}")
    return stream.getvalue()


# -- MUTAG, built in ---------------------------------------------------------------------------------------------------


def test_mutag_is_there_without_anything():
    batch = pwlr.load_dataset("MUTAG")
    assert content_of(batch) == dataset_info("MUTAG").content
    assert Counter(batch.y.tolist()) == {1: 125, -1: 63}
    assert (batch.weights == 1).all()
    assert Counter(batch.node_label_names[label] for label in batch.node_labels.tolist())["C"] == 2395
    assert batch.edge_label_names == {0: "aromatic", 1: "single", 2: "double", 3: "triple"}


def test_loading_mutag_needs_neither_pooch_nor_the_network():
    code = "import sys, pwlr; pwlr.load_dataset('MUTAG'); print(*{'pooch', 'sklearn', 'numba'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def script(name):
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_built_in_file_is_what_its_script_writes(tmp_path):
    build = script("build_mutag")
    if importlib.util.find_spec("grakel") is None:
        pytest.skip("install grakel to compare the built-in file with its copy of MUTAG")
    original = read_tu(build.installed_copy())
    build.write_compact(original, tmp_path / "mutag.npz")
    with np.load(tmp_path / "mutag.npz") as ours, np.load(build.OUTPUT) as committed:
        assert ours.files == committed.files
        for key in ours.files:
            assert np.array_equal(ours[key], committed[key])
    assert datasets._built_in() == original
    assert build.OUTPUT.stat().st_size < 6000


@pytest.mark.data
def test_the_built_in_file_is_the_public_one(data_dir):
    assert datasets._built_in() == read_tu(data_dir / "MUTAG.zip")


# -- catalogue ---------------------------------------------------------------------------------------------------------


def test_catalogue_has_the_fourteen_sets():
    assert len(available_datasets()) == 14
    assert available_datasets()[0] == "MUTAG"


@pytest.mark.parametrize("name", available_datasets())
def test_entries_are_complete(name):
    info = dataset_info(name)
    assert info.description
    assert info.citation
    assert re.fullmatch("[0-9a-f]{64}", info.content["digest"])
    assert list(info.recipes) == list(RECIPES)
    assert info.recipes["plain"] == "defined"
    assert info.recipes["as-written"] == "written"
    assert info.recipes["as-published"] in {"verified", "inferred", "guessed"}
    for words, count in ((info.node_label_names, "node_labels"), (info.edge_label_names, "edge_labels")):
        assert words is None or len(words) == info.content[count]
    for recipe in RECIPES:
        for step in datasets._catalogue()[name]["recipes"][recipe]["steps"]:
            assert set(step) <= set(datasets._STEPS)


def test_chemical_sets_have_words():
    named = {name for name in available_datasets() if dataset_info(name).node_label_names}
    assert named == {"MUTAG", "PTC_MM", "PTC_MR", "PTC_FM", "PTC_FR", "BZR_MD", "COX2_MD"}
    assert {dataset_info(f"PTC_{sex}").node_label_names[5] for sex in ("MM", "MR", "FR")} == {"C"}
    assert dataset_info("PTC_FM").node_label_names[2] == "C"  # the four lists differ


def test_unknown_entries_are_refused():
    with pytest.raises(
        DatasetError, match=r"'NCI' is not in the catalogue \(did you mean NCI1 or NCI109.*\): it has MUTAG"
    ):
        dataset_info("NCI")


@pytest.mark.data
@pytest.mark.parametrize("name", available_datasets())
def test_catalogue_agrees_with_the_files(data_dir, name):
    assert content_of(read_tu(data_dir / f"{name}.zip")) == dataset_info(name).content


@pytest.mark.data
def test_catalogue_is_what_its_script_writes(data_dir, monkeypatch):
    build = script("build_catalogue")
    text = build.CATALOGUE.read_text(encoding="utf-8")
    assert build.as_text(json.loads(text)) == text
    monkeypatch.setattr(sys, "argv", ["build_catalogue.py", str(data_dir), "--check"])
    build.main()


# -- digest ------------------------------------------------------------------------------------------------------------


def test_digest_is_fixed():
    """A changed digest would make every catalogued set look like another one."""
    assert content_digest(TINY) == "b844060ca84ce0b0fda8d79ec7c6f608f7be47fb01ed0a58c0212c82e218e23a"


def test_digest_does_not_see_what_is_not_measured():
    same = TINY.replace(name="x", ids=[5, 6], node_label_names={0: "C"})
    assert content_digest(same) == content_digest(TINY)
    shuffled = GraphBatch.from_edges([[(2, 1), (1, 0)], [(1, 0)]], node_labels=[[0, 1, 0], [1, 1]], y=[0.0, 1.0])
    assert content_digest(shuffled.replace(y=[0, 1])) == content_digest(TINY)


@pytest.mark.parametrize(
    "changes",
    [
        {"y": [1, 0]},
        {"y": None},
        {"y": ["0", "1"]},
        {"node_labels": [0, 1, 0, 1, 0]},
        {"node_labels": ["0", "1", "0", "1", "1"]},
        {"node_attributes": [0, 1, 0, 1, 1]},
        {"edge_labels": [0, 0, 0]},
        {"weights": [1.0, 1, 2, 2, 1, 1]},
        {"node_ptr": [0, 0, 5], "edge_ptr": [0, 0, 3]},
    ],
)
def test_digest_sees_everything_that_is(changes):
    assert content_digest(TINY.replace(**changes)) != content_digest(TINY)


# -- recipes -----------------------------------------------------------------------------------------------------------


def test_recipes_of_mutag():
    plain, written, published = (load_dataset("MUTAG", recipe) for recipe in RECIPES)
    assert plain == written
    u, v = published.edges.T
    assert np.array_equal(published.edge_weights, np.maximum(published.degrees[u], published.degrees[v]))
    assert published.replace(weights=plain.weights) == plain


def complete(name):
    """A triangle and an isolated node: aromatic, none, single; distances 2, 4, 5."""
    return GraphBatch.from_edges(
        [[(0, 1), (0, 2), (1, 2)]],
        n_nodes=[4],
        node_labels=[[1, 2, 3, 4]],
        edge_labels=[[0, 1, 2]],
        edge_attributes=[[2.0, 4.0, 5.0]],
        node_attributes=[[[1.0], [2.0], [3.0], [4.0]]],
        y=[1],
        ids=["a"],
        name=name,
    )


@pytest.mark.parametrize(
    ("name", "recipe", "edges", "weights"),
    [
        ("BZR_MD", "plain", [[0, 1], [1, 2]], [1, 1]),
        ("BZR_MD", "as-written", [[0, 1], [1, 2]], [1 / 2, 1 / 5]),
        ("COX2_MD", "as-published", [[0, 1], [1, 2]], [1, 2]),
        ("PTC_MR", "as-published", [[0, 1], [0, 2], [1, 2]], [2, 2, 2]),
        ("NCI1", "plain", [[0, 1], [0, 2], [1, 2]], [1, 1, 1]),
        ("NCI1", "as-published", [[0, 1], [0, 2], [1, 2]], [2, 2, 2]),
        ("COX2", "as-published", [[0, 1], [0, 2], [1, 2]], [1, 1, 1]),
    ],
)
def test_steps_of_recipes(name, recipe, edges, weights):
    batch = apply_recipe(complete(name), recipe)
    assert batch.edges.tolist() == edges
    assert batch.edge_weights.tolist() == weights
    assert batch.n_nodes == (3 if (name, recipe) == ("NCI1", "as-published") else 4)
    assert (batch.name, batch.y.tolist(), batch.ids.tolist()) == (name, [1], ["a"])
    assert batch.node_labels.tolist() == [1, 2, 3, 4][: batch.n_nodes]
    assert len(batch.edge_labels) == len(edges)


def test_dropping_isolated_nodes_may_leave_a_graph_without_nodes():
    batch = GraphBatch.from_edges([[], [(0, 2)], [(0, 1)]], n_nodes=[2, 3, 2], node_labels=[[1, 1], [2, 3, 4], [5, 5]])
    batch = apply_recipe(batch.replace(name="NCI109"), "as-published")
    assert batch.node_ptr.tolist() == [0, 0, 2, 4]
    assert batch.node_labels.tolist() == [2, 4, 5, 5]
    assert batch.edges.tolist() == [[0, 1], [2, 3]]


def test_the_attribute_bug_of_bzr():
    batch = GraphBatch.from_edges([[(0, 1)], [(0, 1)]], node_attributes=[[1, 2], [3, 4]], name="BZR")
    assert apply_recipe(batch, "as-published").node_attributes[:, 0].tolist() == [1, 2, 1, 2]
    assert apply_recipe(batch, "as-written") == batch


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"edge_labels": None}, "the recipe needs edge labels, which this copy of BZR_MD does not have"),
        ({"edge_labels": [0, 9, 2]}, "BZR_MD has edge label 9, for which the recipe has no weight"),
    ],
)
def test_recipes_on_files_that_lack_something(changes, match):
    with pytest.raises(DatasetError, match=match):
        apply_recipe(complete("BZR_MD").replace(**changes), "as-published")


def test_recipes_must_be_known():
    with pytest.raises(
        OptionError, match="recipe='raw' is not known: choose one of 'plain', 'as-written', 'as-published'"
    ):
        load_dataset("MUTAG", "raw")
    with pytest.raises(
        OptionError, match="TINY has no recipe 'as-written': data sets outside the catalogue have 'plain'"
    ):
        load_dataset("TINY", "as-written")


@pytest.mark.data
@pytest.mark.parametrize(("name", "labels"), [("NCI1", 22), ("NCI109", 19), ("PROTEINS", 3)])
def test_published_label_counts(data_dir, name, labels):
    batch = load_dataset(name, "as-published", data_dir=data_dir)
    assert len(np.unique(batch.node_labels)) == labels
    assert batch.degrees.min() == 1
    assert batch.n_graphs == dataset_info(name).content["graphs"]


@pytest.mark.data
@pytest.mark.parametrize(("name", "n_edges"), [("BZR_MD", 7273), ("COX2_MD", 8642)])
@pytest.mark.parametrize("recipe", RECIPES)
def test_bonds_of_the_complete_graphs(data_dir, name, n_edges, recipe):
    batch = load_dataset(name, recipe, data_dir=data_dir)
    assert batch.n_edges == n_edges
    assert set(batch.edge_labels) == {0, 2, 3, 4}
    weights = {
        "plain": np.ones(n_edges),
        "as-written": 1 / batch.edge_attributes[:, 0],
        "as-published": np.where(batch.edge_labels == 0, 1, batch.edge_labels),
    }
    assert np.array_equal(batch.edge_weights, weights[recipe])


@pytest.mark.data
@pytest.mark.parametrize("name", available_datasets())
@pytest.mark.parametrize("recipe", RECIPES)
def test_every_recipe_of_every_set(data_dir, name, recipe):
    batch = load_dataset(name, recipe, data_dir=data_dir)
    assert batch.name == name
    assert batch.n_graphs == len(batch.y) == dataset_info(name).content["graphs"]
    if recipe == "plain":
        assert (batch.weights == 1).all()


# -- places ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Folders for `data_dir`, PWLR_DATA_DIR and the cache, the environment set."""
    folders = {name: tmp_path / name for name in ("data_dir", "PWLR_DATA_DIR", "cache")}
    for folder in folders.values():
        folder.mkdir()
    monkeypatch.setenv("PWLR_DATA_DIR", str(folders["PWLR_DATA_DIR"]))
    return folders


def marked(y):
    return TINY.replace(y=[y, y])


def test_lookup_order(places):
    for y, place in enumerate(["cache", "PWLR_DATA_DIR", "data_dir"]):
        (places[place] / "TINY.zip").write_bytes(zipped(marked(y), "TINY") if y == 0 else b"")
        write_tu(marked(y), places[place] / "TINY")  # a folder comes before a zip
        assert load_dataset("TINY", data_dir=places["data_dir"]).y[0] == y
    assert load_dataset("TINY").y[0] == 1
    assert find_datasets(places["data_dir"])[0].place == "data_dir"


def test_the_users_mutag_comes_before_the_built_in_one_and_the_cached_one_after(places):
    write_tu(TINY, places["cache"] / "MUTAG", name="MUTAG")
    assert load_dataset("MUTAG").n_graphs == 188
    write_tu(TINY, places["PWLR_DATA_DIR"] / "MUTAG", name="MUTAG")
    with pytest.warns(
        PwlrWarning, match="MUTAG is not the known MUTAG: it has 2 graphs where the catalogue says 188"
    ) as caught:
        batch = load_dataset("MUTAG")
    assert batch.n_graphs == 2
    assert caught[0].filename == __file__


def test_folders_without_the_set_are_passed_over(places):
    (places["data_dir"] / "TINY").mkdir()
    (places["data_dir"] / "TINY" / "README.txt").write_text("nothing here")
    (places["PWLR_DATA_DIR"] / "TINY").mkdir()
    write_tu(TINY, places["PWLR_DATA_DIR"] / "TINY" / "raw")  # as other libraries unpack it
    assert load_dataset("TINY", data_dir=places["data_dir"]) == TINY


def test_paths_to_folders_and_zips(tmp_path):
    write_tu(TINY, tmp_path / "somewhere" / "anything")
    (tmp_path / "other.zip").write_bytes(zipped(TINY))
    for path in (tmp_path / "somewhere" / "anything", "somewhere/anything", "other.zip", str(tmp_path / "other.zip")):
        assert load_dataset(path) == TINY
    with pytest.raises(OptionError, match="TINY has no recipe 'as-published'"):
        load_dataset("other.zip", "as-published")


def test_a_path_to_a_known_set_has_its_recipes_and_words(tmp_path):
    write_tu(datasets._built_in(), tmp_path / "MUTAG")
    assert load_dataset("./MUTAG", "as-published") == load_dataset("MUTAG", "as-published")
    assert load_dataset(tmp_path / "MUTAG") == load_dataset("MUTAG")


def test_names_of_the_catalogue_are_not_paths(tmp_path):
    write_tu(TINY, tmp_path / "MUTAG", name="MUTAG")  # in the working directory
    assert load_dataset("MUTAG").n_graphs == 188
    write_tu(TINY, tmp_path / "MINE", name="MINE")
    assert load_dataset("MINE").n_graphs == 2


def test_a_file_of_the_users_with_other_content_only_warns(tmp_path):
    mutag = datasets._built_in()
    write_tu(mutag.replace(y=-mutag.y), tmp_path / "MUTAG")
    with pytest.warns(PwlrWarning, match="its counts agree with the catalogue, its content does not"):
        batch = load_dataset(tmp_path / "MUTAG")
    assert batch.node_label_names[0] == "C"


@pytest.mark.parametrize("name", ["../secret", "a/b", "", ".hidden", "x\0y", "-x", "a b", "C:\\x", "nothing.zip"])
def test_names_that_are_no_names(tmp_path, name):
    write_tu(TINY, tmp_path / "secret")
    (tmp_path / "data").mkdir()  # from which ../secret would be reached
    with pytest.raises(DatasetError, match="is neither an existing folder or zip nor the name of a data set"):
        load_dataset(name, data_dir=tmp_path / "data")


def test_data_dir_must_be_a_folder(tmp_path):
    with pytest.raises(DatasetError, match="data_dir 'nowhere' is not a folder: check the path"):
        load_dataset("TINY", data_dir="nowhere")


def test_an_environment_that_points_nowhere_is_passed_over(monkeypatch, tmp_path):
    monkeypatch.setenv("PWLR_DATA_DIR", str(tmp_path / "nowhere"))
    assert load_dataset("MUTAG").n_graphs == 188
    assert [found.name for found in find_datasets()] == ["MUTAG"]


def test_names_that_are_not_there(places):
    match = (
        r"data set 'PTC_MN' is not on this machine \(did you mean PTC_.* or .*\); looked into .*data_dir \(data_dir\),"
    )
    with pytest.raises(DatasetError, match=match):
        load_dataset("PTC_MN", data_dir=places["data_dir"], download=False)
    with pytest.raises(DatasetError, match="did you mean MUTAG"):
        load_dataset("mutag", download=False)


def test_without_a_word_downloads_go_to_the_users_cache(monkeypatch, tmp_path):
    pooch = pytest.importorskip("pooch")
    monkeypatch.delenv("PWLR_CACHE_DIR")
    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / "home" / name)
    write_tu(TINY, tmp_path / "home" / "pwlr" / "TINY")
    assert load_dataset("TINY") == TINY


def test_finding_what_is_there(places):
    write_tu(TINY, places["data_dir"] / "TINY")
    (places["data_dir"] / "OTHER.zip").write_bytes(zipped(TINY))  # holds TINY, not OTHER
    (places["PWLR_DATA_DIR"] / "TINY.zip").write_bytes(zipped(TINY))
    (places["PWLR_DATA_DIR"] / "BROKEN.zip").write_bytes(b"PK")
    (places["cache"] / ".TINY-x.part").write_bytes(b"PK")
    found = [(item.name, item.place, item.path) for item in find_datasets(places["data_dir"])]
    assert found == [
        ("TINY", "data_dir", places["data_dir"] / "TINY"),
        ("TINY", "PWLR_DATA_DIR", places["PWLR_DATA_DIR"] / "TINY.zip"),
        ("MUTAG", "built-in", None),
    ]


def test_a_damaged_file_of_the_users_is_named(places):
    (places["data_dir"] / "TINY.zip").write_bytes(zipped(TINY)[:-40])
    with pytest.raises(GraphFormatError, match=r"TINY.zip is not an intact zip archive"):
        load_dataset("TINY", data_dir=places["data_dir"])


def test_a_damaged_cached_file_is_to_be_deleted(places):
    (places["cache"] / "TINY.zip").write_bytes(zipped(TINY)[:-40])
    with pytest.raises(DatasetError, match=r"this is the cached copy: delete .*TINY.zip to have it downloaded again"):
        load_dataset("TINY")


# -- downloads ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def site():
    """A server on loopback; `site.answers[path]` is a function of the request handler, or the bytes to send."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.server.asked.append(self.path)
            answer = self.server.answers.get(self.path)
            if answer is None:
                self.send_error(404, "Not Found")
            elif callable(answer):
                answer(self)
            else:
                send(self, answer, len(answer))

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.answers, server.asked = {}, []
    server.url = f"http://127.0.0.1:{server.server_port}/sets"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def send(handler, body, announced):
    handler.send_response(200)
    if announced is not None:
        handler.send_header("Content-Length", str(announced))
    handler.end_headers()
    handler.wfile.write(body)


def everything_in(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_a_download_is_kept_and_not_repeated(site, tmp_path, monkeypatch):
    site.answers["/sets/TINY.zip"] = zipped(TINY)
    assert load_dataset("TINY", base_url=site.url) == TINY
    assert everything_in(tmp_path / "cache") == ["TINY.zip"]
    assert load_dataset("TINY", base_url=site.url) == TINY
    assert load_dataset("TINY", download=False) == TINY
    assert site.asked == ["/sets/TINY.zip"]
    monkeypatch.setenv("PWLR_DATA_URL", site.url + "/")
    assert load_dataset("TINY", cache_dir=tmp_path / "other") == TINY
    assert site.asked == ["/sets/TINY.zip"] * 2
    assert [found.place for found in find_datasets()] == ["built-in", "cache"]


@pytest.mark.data
def test_a_known_set_is_accepted_however_it_is_packed(site, data_dir, tmp_path):
    plain = read_tu(data_dir / "PTC_MM.zip")
    site.answers["/sets/PTC_MM.zip"] = zipped(plain)  # the same content in other bytes
    assert load_dataset("PTC_MM", base_url=site.url) == apply_recipe(plain)
    assert everything_in(tmp_path / "cache") == ["PTC_MM.zip"]


def stop_early(handler):
    body = zipped(TINY)
    send(handler, body[: len(body) // 2], len(body))
    handler.wfile.flush()
    handler.connection.close()


@pytest.mark.parametrize(
    ("answer", "match"),
    [
        (None, r"could not be downloaded \(404 Not Found\); looked into .*cache \(cache\): check name and connection"),
        (lambda h: h.send_error(500), r"could not be downloaded \(500 Internal Server Error\)"),
        (stop_early, r"could not be downloaded \(the transfer broke off\)"),
        (lambda h: send(h, zipped(TINY)[:-50], None), "sent is not the data set TINY: it is not an intact zip archive"),
        (b"<html>we moved</html>", "sent is not the data set TINY: it is not an intact zip archive"),
        (b"", "is not an intact zip archive"),
        (
            lambda h: send(h, zipped(TINY, "OTHER"), None),
            "is not the data set TINY: it holds no data set 'TINY': it holds OTHER",
        ),
        (lambda h: h.connection.close(), "could not be downloaded"),
    ],
    ids=["404", "500", "broken off", "truncated", "a page", "nothing", "another set", "hung up"],
)
def test_downloads_that_fail_leave_nothing(site, tmp_path, answer, match):
    zipped(TINY, "OTHER"), zipped(TINY)
    site.answers["/sets/TINY.zip"] = answer
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "NEIGHBOUR.zip").write_bytes(b"untouched")
    with pytest.raises(DatasetError, match=match) as caught:
        load_dataset("TINY", base_url=site.url)
    assert everything_in(cache) == ["NEIGHBOUR.zip"]
    assert "\n" not in str(caught.value)
    site.answers["/sets/TINY.zip"] = zipped(TINY)
    assert load_dataset("TINY", base_url=site.url) == TINY


def test_a_known_set_with_other_content_is_refused(site, tmp_path):
    site.answers["/sets/PTC_MM.zip"] = zipped(TINY, "PTC_MM")
    with pytest.raises(
        DatasetError, match="is not the known PTC_MM: it has 2 graphs where the catalogue says 336; try"
    ):
        load_dataset("PTC_MM", base_url=site.url)
    assert everything_in(tmp_path / "cache") == []


def test_a_server_that_is_not_there(tmp_path):
    with pytest.raises(DatasetError, match=r"could not be downloaded \(no connection\)"):
        load_dataset("TINY")
    assert everything_in(tmp_path / "cache") == []


@pytest.mark.parametrize("url", ["ftp://example.org", "file:///etc", "nonsense"])
def test_other_protocols_are_refused(url):
    with pytest.raises(DatasetError, match="over http or https, not from"):
        load_dataset("TINY", base_url=url)


def test_an_interrupt_leaves_nothing(site, tmp_path, monkeypatch):
    def interrupt(url, target, *_):
        Path(target).write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(datasets, "_fetch", interrupt)
    with pytest.raises(KeyboardInterrupt):
        load_dataset("TINY", base_url=site.url)
    assert everything_in(tmp_path / "cache") == []


@pytest.mark.parametrize("at", ["the cache", "the rename"])
def test_a_cache_that_cannot_be_written(site, tmp_path, at):
    site.answers["/sets/TINY.zip"] = zipped(TINY)
    if at == "the cache":
        (tmp_path / "cache").write_text("a file, not a folder")
    else:
        (tmp_path / "cache" / "TINY.zip").mkdir(parents=True)
        (tmp_path / "cache" / "TINY.zip" / "x").touch()
    with pytest.raises(
        DatasetError, match=r"the cache .* cannot be written \(.*\): pass cache_dir= or set PWLR_CACHE_DIR"
    ):
        load_dataset("TINY", base_url=site.url)


def test_many_at_once(site, tmp_path):
    site.answers["/sets/TINY.zip"] = zipped(TINY)
    with ThreadPoolExecutor(8) as pool:
        batches = list(pool.map(lambda _: load_dataset("TINY", base_url=site.url), range(16)))
    assert batches == [TINY] * 16
    assert everything_in(tmp_path / "cache") == ["TINY.zip"]


def test_two_processes_at_once(site, tmp_path):
    site.answers["/sets/TINY.zip"] = zipped(TINY)
    code = f"import pwlr; print(len(pwlr.load_dataset('TINY', base_url={site.url!r})))"
    running = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate()[0].strip() for process in running] == ["2", "2"]
    assert everything_in(tmp_path / "cache") == ["TINY.zip"]


def test_everything_that_goes_wrong_is_caught_by_one_name():
    for error in (DatasetError, GraphFormatError, OptionError):
        assert issubclass(error, PwlrError)
