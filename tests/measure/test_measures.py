"""Every measure is in one table, and nothing else says what it is called."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.docs.documents import slugs

from brownout.measure.measures import MEASURES, Measure, described, find, label
from brownout.measure.unit import SECONDS, UNITS

ROOT = Path(__file__).parents[2]
HOME = ROOT / "src" / "brownout" / "measure" / "measures.py"
DOCUMENT = ROOT / "docs" / "measures.md"
NAMES = {measure.name for measure in MEASURES}
#: Labels that no other thing is called by: a word alone, as `errors`, may be said of much.
LABELS = {m.label.casefold() for m in MEASURES if " " in m.label}
#: A measure in the table of docs/measures.md: its name, its label, its unit.
ROW = re.compile(r"^\| `(\w+)` \| ([^|]+) \| .* \| ([^|]+) \|$", re.MULTILINE)


def sources() -> Iterator[Path]:
    """Yield every Python file that may show a measure, but for that of the table."""
    for pattern in ("src/brownout/**/*.py", "actions/*.py", "probes/*.py", "dashboards/*.py",
                    "infra/**/*.py"):  # fmt: skip
        yield from (path for path in ROOT.glob(pattern) if path.resolve() == path != HOME)


def second_labels(tree: ast.AST) -> Iterator[str]:
    """Yield each place that calls a measure something: a table by its names, or a label itself.

    A word alone (`errors`) is a name of much; a part of a sentence is no label.
    """
    sentences = {
        id(part) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for part in n.values
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                name = str(key.value) if isinstance(key, ast.Constant) else ""
                named = name in NAMES and "_" in name
                if named and any(_words(part) for part in ast.walk(value)):
                    yield f"{node.lineno}: a table of labels, by {name}"
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            said = {part.strip().partition(":")[0].casefold() for part in node.value.split("|")}
            if id(node) not in sentences:
                yield from (
                    f"{node.lineno}: the label {words!r}" for words in sorted(said & LABELS)
                )


def _words(node: ast.AST) -> bool:
    """Whether something is a text that a person reads, and not a name or a method."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and (
        " " in node.value or node.value[:1].isupper()
    )  # fmt: skip


def test_no_other_file_says_what_a_measure_is_called() -> None:
    found = {path: list(second_labels(ast.parse(path.read_text()))) for path in sources()}
    assert {str(path.relative_to(ROOT)): lines for path, lines in found.items() if lines} == {}
    assert len(found) > 500


@pytest.mark.parametrize(
    "line",
    [
        'ROWS = {"recovery_time": "time to recover"}',
        'ROWS = {"tps_drop": ("Drop", "percentunit")}',
        'figure("Operations lost", "none", query)',
        'HEADS = "run | throughput drop:n | verdict"',
    ],
)
def test_a_second_table_is_found(line: str) -> None:
    assert list(second_labels(ast.parse(line)))


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_every_measure_has_a_unit_and_a_definition(measure: Measure) -> None:
    assert measure.unit in UNITS.values()
    assert measure.anchor in slugs(DOCUMENT)


def test_no_two_measures_have_one_name_or_one_label() -> None:
    assert len(NAMES) == len(MEASURES)
    assert len({measure.label for measure in MEASURES}) == len(MEASURES)


def test_the_document_has_the_table_in_its_order_with_its_labels_and_units() -> None:
    rows = [row for row in ROW.findall(DOCUMENT.read_text("utf-8")) if row[0] in NAMES]
    assert rows == [(m.name, m.label, m.unit.name) for m in MEASURES if "." not in m.name]


def test_a_time_above_a_limit_is_called_by_its_limit() -> None:
    assert label("time_above.p999_250ms") == "time with p99.9 over 250 ms"
    assert (found := find("time_above.p99_10ms")) is not None
    assert found.unit is SECONDS


def test_what_is_no_single_number_has_a_label_and_no_limit() -> None:
    assert described("dips") is not None
    assert find("dips") is None
    assert find("no_such_measure") is None
    assert label("no_such_measure") == "no such measure"
