"""The wording of a message is asserted by one test at most, so that one edit can reword it.

A test of behaviour asserts the class of an error, an exit code, a field of JSON, an event, and the
names and numbers that a message must hold (`tests.wording.naming`), but not its prose.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PRODUCT = ("src/brownout/**/*.py", "actions/*.py", "probes/*.py", "infra/**/*.py",
           "dashboards/*.py", "loadgen/**/*.go")  # fmt: skip
#: So many plain words in a row are prose: fewer are a name, a column or a unit.
RUN = 4
#: A string of so many lines is a program or a file, not a message.
A_SCRIPT = 4
#: What ends a run: the place of a value, `a name`, a pattern's `.*`, a path, a number or a symbol.
VALUE = re.compile(
    r"\0|`[^`]*`|\.[*+?]|\S*\w[/.:]\w\S*|[^\s,;:.()'\"!?-]*[\d_<>=|{}\[\]\\*+^$%@]\S*"
)
SMALL = frozenset(re.findall(r"\w+", """
    a an and any are as at be been but by could for from had has have if in is it its no not of on
    one or so that the there they this to was were what which with would
"""))  # fmt: skip

#: Tests that may assert what others assert too, and why. A folder means all that is in it.
EXCUSED = {
    "tests/golden/": "a golden is the one place where a whole output is kept",
    "tests/docs/": "these run what README and docs show, and compare the output",
    "tests/test_frozen_words.py": "its own examples",
}

Run = tuple[str, ...]


@dataclass(frozen=True)
class Place:
    """Where a string stands: `src/brownout/x.py:12`, and the test function around it, if any."""

    path: str
    line: int
    function: str = ""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


def runs(text: str) -> frozenset[Run]:
    """Return every run of plain words; a number, a name in backticks, a path or a value ends one.

    A run with fewer than two words of weight ("is not in the", "is not a file") is too common.
    """
    plain = re.sub(r"\\(\W)", r"\1", text)  # a pattern's escapes
    pieces = [re.findall(r"[a-z]+(?:[-'][a-z]+)*", p.lower()) for p in VALUE.split(plain)]
    every = (tuple(p[at : at + RUN]) for p in pieces for at in range(len(p) - RUN + 1))
    return frozenset(run for run in every if len(set(run) - SMALL) > 1)


def literal(node: ast.AST) -> str | None:
    """Return the text of a string or f-string, with NUL for each value in it."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(v.value if isinstance(v, ast.Constant) else "\0" for v in values)  # type: ignore[misc]
    return None


def literals(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield each string below `node`, docstrings left out."""
    text = literal(node)
    if text is not None:
        if text.count("\n") < A_SCRIPT:
            yield node.lineno, text  # type: ignore[attr-defined]
        return
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)):
            yield from literals(child)


def sentences(path: Path) -> Iterator[tuple[int, str]]:
    """Yield every string of a file of the product, with its line."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        yield from literals(ast.parse(source))
        return
    for number, line in enumerate(source.splitlines(), 1):
        for text in re.findall(r'"((?:[^"\\]|\\.)*)"', line.split("//")[0]):
            yield number, re.sub(r"%[+#]?[\d.]*[a-zA-Z]", "\0", text)


def asserted(function: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the strings that a test compares with: in `assert`, `match=` and tables of cases."""
    for node in ast.walk(function):
        match node:
            case ast.Assert(test=test):
                yield from literals(test)
            case ast.Call(keywords=keywords):
                for keyword in keywords:
                    if keyword.arg == "match":
                        yield from literals(keyword.value)
            case ast.FunctionDef(decorator_list=decorators):
                for decorator in decorators:
                    if "parametrize" in ast.unparse(decorator):
                        yield from literals(decorator)


def functions_of(path: Path) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            yield node.name, node


@cache
def of_product(root: Path) -> dict[Run, frozenset[Place]]:
    """Return where in the product each run of words stands."""
    index: dict[Run, set[Place]] = defaultdict(set)
    for pattern in PRODUCT:
        for path in sorted(root.glob(pattern)):
            if not path.name.endswith("_test.go"):
                for line, text in sentences(path):
                    for run in runs(text):
                        index[run].add(Place(str(path.relative_to(root)), line))
    return {run: frozenset(places) for run, places in index.items()}


def frozen(root: Path) -> dict[Place, set[Place]]:
    """Return where each sentence of the product is asserted, one place a test function."""
    index = of_product(root)
    by_sentence: dict[Place, dict[tuple[str, str], Place]] = defaultdict(dict)
    for path in sorted(root.glob("tests/**/test_*.py")):
        name = str(path.relative_to(root))
        if any(name.startswith(excused) for excused in EXCUSED):
            continue
        for function, node in functions_of(path):
            for line, text in asserted(node):
                sentence = best(index, runs(text), name)
                if sentence is not None:
                    place = Place(name, line, function)
                    by_sentence[sentence].setdefault((name, function), place)
    return {sentence: set(places.values()) for sentence, places in by_sentence.items()}


def best(index: dict[Run, frozenset[Place]], wanted: frozenset[Run], test: str) -> Place | None:
    """Return the sentence of the product that has most of these runs of words.

    Of several it is the one nearest to the test, since tests mirror the tree.
    """
    rooms = _rooms(test)
    hits: dict[Place, int] = defaultdict(int)
    for run in wanted:
        for place in index.get(run, ()):
            hits[place] += 1

    def order(place: Place) -> tuple[int, int, str]:
        return -hits[place], -len(rooms & _rooms(place.path)), str(place)

    return min(hits, key=order, default=None)


def _rooms(path: str) -> set[str]:
    """Return the folders of a file and its bare name: `wipe` of `test_wipe.py` and of `wipe.py`."""
    return {*Path(path).parts[:-1], Path(path).stem.removeprefix("test_")}


def test_a_sentence_is_asserted_by_one_test_at_most() -> None:
    more = {s: places for s, places in frozen(ROOT).items() if len(places) > 1}
    report = [
        f"{sentence} is asserted by {len(places)} tests: {', '.join(sorted(map(str, places)))}"
        for sentence, places in sorted(more.items(), key=lambda item: -len(item[1]))
    ]
    assert not report, "\n".join(report)


def test_every_excuse_is_for_a_file_that_is_there() -> None:
    assert [path for path in EXCUSED if not (ROOT / path).exists()] == []


@pytest.mark.parametrize(("text", "count"), [
    ("the cluster is not whole", 1),
    ("node `n1` is not whole", 0),
    ("it took 14 seconds in all", 0),
    ("it took \0 of the whole cluster", 1),
    (r"nodes were not wanted\.", 1),
    (r"nodes were .* not wanted", 0),
    ("it is not a database", 0),
    ("see go.mongodb.org/mongo-driver/v2/event", 0),
])  # fmt: skip
def test_only_plain_words_in_a_row_are_prose(text: str, count: int) -> None:
    assert len(runs(text)) == count
