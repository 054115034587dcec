"""What is written of an impact is read back, and so is what every older brownout wrote."""

import ast
import copy
import json
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.run_builder import RunScript, build_run

from brownout.base.errors import RunDirectoryError
from brownout.judge.analysis import analyze
from brownout.measure.document import (
    FORMER_CANARY,
    document_of,
    impact_of,
    read_impact,
    write_impact,
)
from brownout.measure.impact import NEVER
from brownout.run.directory import RunDirectory
from brownout.run.metadata import digest_of

Document = dict[str, Any]
RECORDINGS = sorted((Path(__file__).parents[1] / "data" / "runs").glob("*.tar.xz"))
SOURCE = Path(__file__).parents[2] / "src" / "brownout"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    """A run of today, with a limit."""
    limit = {"measure": "blackout", "limit": 5.0, "scope": "total", "limit_from": "x", "why": ""}
    script = RunScript(rate=100, limits=(limit,))
    return RunDirectory.open(build_run(tmp_path_factory.mktemp("runs"), script))


@pytest.fixture
def document(run: RunDirectory) -> Document:
    """Its impact.json, to change."""
    found: Document = json.loads(run.impact.read_text())
    return found


def test_what_was_written_is_read_back_as_it_was(run: RunDirectory) -> None:
    made, before = analyze(run.path), run.impact.read_bytes()
    found = read_impact(run)
    assert found == made
    write_impact(run, found)
    assert run.impact.read_bytes() == before


@pytest.mark.parametrize("archive", RECORDINGS, ids=[path.name for path in RECORDINGS])
def test_every_recorded_impact_is_read_with_all_its_figures(archive: Path) -> None:
    with tarfile.open(archive) as files:
        names = [name for name in files.getnames() if name.endswith("/impact.json")]
        texts = [file.read() for name in names if (file := files.extractfile(name))]
    for recorded in map(json.loads, texts):
        found = document_of(impact_of(recorded))
        assert [*_lost(recorded, found)] == []


def _lost(old: Any, new: Any, at: str = "") -> Iterator[str]:
    """Name all that stood in a file and is another now."""
    if isinstance(old, dict):
        for key in old.keys() - {"digest"}:
            yield from _lost(old[key], new.get(key, "nothing"), f"{at}.{key}")
    elif isinstance(old, list) and old and isinstance(old[0], dict):
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _lost(one, other, f"{at}[{number}]")
    elif old != new:
        yield f"{at}: {old!r} became {new!r}"


def _scopes(document: Document) -> Iterator[Document]:
    for fault in document["faults"]:
        yield from (fault, *fault["scopes"].values())


def _without(names: tuple[str, ...]) -> Callable[[Document], list[Document]]:
    """Return what takes these fields of the whole document away."""
    return lambda document: [document.pop(name, {}) for name in names]


def _of_scopes(*names: str) -> Callable[[Document], None]:
    def take(document: Document) -> None:
        for scope in _scopes(document):
            for name in names:
                scope.pop(name, None)

    return take


def _of_each(part: str, *names: str) -> Callable[[Document], None]:
    def take(document: Document) -> None:
        for each in document[part] if isinstance(document[part], list) else [document[part]]:
            for name in names:
                each.pop(name, None)

    return take


def _of_milestones(document: Document) -> None:
    for fault in document["faults"]:
        for milestone in fault["milestones"]:
            milestone.pop("revoked", None)


REBALANCE = ("rebalance_time", "records_moved", "records_counted", "bytes_moved",
             "records_moved_per_s", "bytes_moved_per_s", "throughput_while_moving",
             "capacity_ratio")  # fmt: skip
FAILOVER = ("promoted_time", "primary_overlap", "client_recovered_time")
REFUSED = ("refused_keys", "temporarily_missing")
DATA = ("data_keys", "data_read", "data_lost", "in_doubt_applied", "in_doubt_absent")

#: What each change of the writer added, the latest first: an older file lacks all from there on.
ADDED: dict[str, list[Callable[[Document], object]]] = {
    "who is primary": [_of_scopes(*FAILOVER)],
    "the driver": [_without(("driver",))],
    "what became of writes in doubt, and the data set": [_of_each("ledger", *DATA)],
    "the blackout of slow streams": [_of_scopes("blackout_resolution_s")],
    "best and worst case": [
        _without(("remarks",)), _of_each("slos", "best", "worst"), _of_scopes("ranges"),
        _of_each("baseline", "throughput_known"),
    ],
    "refused writes": [_of_each("ledger", *REFUSED)],
    "milestones that are revoked": [_of_milestones],
    "balances": [_of_each("ledger", "balances")],
    "planned changes": [_of_scopes(*REBALANCE)],
    "control windows": [_without(("shams",)), _of_each("baseline", "detectable_drop")],
}  # fmt: skip


@pytest.mark.parametrize("change", ADDED)
def test_what_was_written_before_a_change_is_read_after_it(change: str, document: Document) -> None:
    now = impact_of(document)
    old = copy.deepcopy(document)
    for name, takes in ADDED.items():
        for take in takes:
            take(old)
        if name == change:
            break
    found = impact_of(old)
    assert (found.verdict, found.deadline_s, found.ledger.lost) == ("pass", 1.0, 0)
    for measure in ("tps_drop", "blackout", "recovery_time", "redundancy_time", "availability",
                    "latency.during.p99_us", "lost_writes"):  # fmt: skip
        assert found.value(measure) == now.value(measure), measure
    assert (now.value("promoted_time"), found.value("promoted_time")) == (2.702, None)
    assert found.value("latency_all.during.p99_us") == NEVER
    assert found.limit("blackout") is not None


def test_a_run_with_a_canary_of_old_is_read_and_says_where_its_calls_are(
    document: Document, tmp_path: Path
) -> None:
    old = {**document, "canary": {"state": "measured", "client": "pymongo"}}
    assert impact_of(old).remarks == (*impact_of(document).remarks, FORMER_CANARY)
    again = RunDirectory(build_run(tmp_path, RunScript()))
    (again.path / "canary.json").write_text("{}")
    assert analyze(again.path).remarks[-1] == FORMER_CANARY
    assert read_impact(again).remarks.count(FORMER_CANARY) == 1


def test_what_a_newer_brownout_adds_is_passed_over_and_its_measures_are_kept(
    document: Document,
) -> None:
    document |= {"schema_version": 7, "weather": {"wind": "north"}}
    document["load"]["hops"] = 3
    document["faults"][0] |= {"calm_time": 4.5, "calm_by_hour": {"noon": [1, 2]}}
    document["faults"][0]["scopes"]["read"]["calm_time"] = 2.5
    found = impact_of(document)
    assert (found.value("calm_time"), found.value("calm_time", "read")) == (4.5, 2.5)
    assert document_of(found)["faults"][0]["calm_by_hour"] == {"noon": [1, 2]}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: {}, "verdict is missing, wanted a text"),
        (lambda d: [1], "found list, wanted an object with a verdict"),
        (lambda d: {**d, "verdict": 3}, "verdict: found 3, wanted a text"),
        (lambda d: {**d, "faults": "two"}, "faults: found 'two', wanted a list"),
        (lambda d: {**d, "faults": [{**d["faults"][0], "until": None}]},
         "faults[0].until: found None, wanted a number"),
        (lambda d: {**d, "faults": [{**d["faults"][0], "dips": [[1]]}]},
         "faults[0].dips[0]: found list, wanted a list of 2"),
        (lambda d: {**d, "faults": [{**d["faults"][0], "latency": 5}]},
         "faults[0].latency: found 5, wanted an object"),
        (lambda d: {**d, "stand_in": "no"}, "stand_in: found 'no'"),
    ],
)  # fmt: skip
def test_what_is_no_impact_is_one_error_that_says_where_and_what_to_do(
    change: Callable[[Document], Any], words: str, document: Document
) -> None:
    with pytest.raises(RunDirectoryError) as error:
        impact_of(change(document), "runs/x/impact.json")
    assert str(error.value).startswith("runs/x/impact.json: not an impact: ")
    assert words in str(error.value)
    assert "brownout analyze" in str(error.value)


def test_a_file_that_is_missing_or_was_changed_is_an_error(
    document: Document, tmp_path: Path
) -> None:
    directory = RunDirectory(tmp_path)
    with pytest.raises(RunDirectoryError, match="brownout analyze"):
        read_impact(directory)
    assert document["digest"] == digest_of(document)
    without = {name: value for name, value in document.items() if name != "digest"}
    for changed in ({**document, "verdict": "fail"}, without):
        directory.impact.write_text(json.dumps(changed))
        with pytest.raises(RunDirectoryError, match="its digest is missing or another one"):
            read_impact(directory)


#: What an impact and its parts are called in the code.
TYPED = {"impact", "fault", "slo", "judged", "base", "baseline", "ledger", "sham"}
LOOSE = ("Mapping", "dict", "Any", "Document")
#: The edge: impact.json, and what a run that is watched from afar says at /board.
EDGE = {"measure/document.py", "observe/page.py"}


def test_nobody_but_the_edge_takes_an_impact_as_untyped_data() -> None:
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        name = str(path.relative_to(SOURCE))
        if name in EDGE or "impact" not in (text := path.read_text("utf-8")):
            continue
        for node in ast.walk(ast.parse(text)):
            found += [f"{name}: {told}" for told in _untyped(node)]
    assert found == []


def _untyped(node: ast.AST) -> Iterator[str]:
    """Yield what is indexed by a field's name, or declared to be any mapping."""
    told, name = "", ""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        name = _named(node.value)
        told = ast.unparse(node) if isinstance(node.slice.value, str) else ""
    elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".get"):
        name = _named(node.func.value) if isinstance(node.func, ast.Attribute) else ""
        told = ast.unparse(node)
    elif isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
        name = node.arg if isinstance(node, ast.arg) else _named(node.target)
        annotation = ast.unparse(node.annotation)
        told = f"{name}: {annotation}" if any(word in annotation for word in LOOSE) else ""
    if told and name in TYPED:
        yield told


def _named(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr.lstrip("_")
    return node.id if isinstance(node, ast.Name) else ""
