"""Plain words: odd phrases, participles as modules and locals that say how, not what, stay away."""

import ast
import re
import subprocess
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
#: All text that people read: code with its comments and messages, documents, limits, experiments.
ROOMS = ("src", "actions", "probes", "loadgen", "infra", "docs", "dashboards", "steady-state",
         "experiments", "README.md", "CONTRIBUTING.md", "CHANGELOG.md")  # fmt: skip
#: What programs wrote or own: recorded results, and lists of checksums.
GENERATED = ("docs/failover-book/2026-11-25/", "go.sum")


class Pattern(NamedTuple):
    """A phrase that is odd English wherever it stands, and what a native engineer says."""

    regex: str
    better: str
    hints: tuple[str, ...]  # without any of them in a text the slower regex is not tried


_NOT_A = "longer|more|less|fewer|later|earlier|better|worse|other|further|way|doubt"
PATTERNS = {
    "is no X": Pattern(
        rf"(?<![Tt]here )\b(?:is|are|was|were|be) no (?!(?:{_NOT_A})\b)[a-z`*]",
        "is not a X",
        (" no ",),
    ),
    "is none": Pattern(
        r"(?<![Tt]here )\b(?:is|are|was|were) none\b",
        "is not one, has none, means no X",
        (" none",),
    ),
    "nobody": Pattern(
        r"\b(?:[Nn]obody|[Ss]omebody|[Aa]nybody|[Ww]hoever|[Ww]homever|[Nn]o one)\b",
        "name the process, client, node or reader; or say that it is unknown",
        ("obody", "omebody", "nybody", "hoever", "homever", "o one"),
    ),
    "goes on": Pattern(
        r"\b(?:[Gg]oes|go|[Ww]ent|[Gg]oing) on\b",
        "continues, resumes, keeps doing, is still running, is in progress",
        (" on",),
    ),
    "owed": Pattern(
        r"\b[Oo]w(?:e|es|ed|ing)\b(?! to)",
        "a pending undo; what is due",
        ("owe", "owi", "Owe", "Owi"),
    ),
    "debt": Pattern(r"\b[Dd]ebts?\b", "pending undos", ("ebt",)),
    "in vain": Pattern(r"\bin vain\b", "without success, was not reached", ("in vain",)),
    "put down to": Pattern(r"\bput down to\b", "is attributed to", ("put down to",)),
    "be it": Pattern(r"\bbe (?:it|they|he)\b", "whether or not; even if", (" be ",)),
    "let go": Pattern(
        r"\b(?:[Ll]et|[Ll]ets|[Ll]etting)(?: (?:it|them|all))? go\b",
        "release, close, resume, remove",
        (" go",),
    ),
    "lacks": Pattern(
        r"\b[Ll]ack(?:s|ed|ing)?\b", "has no, does not have, misses, is missing", ("lack", "Lack")
    ),
    "mend": Pattern(
        r"\b(?:to|can|could|would|must|not|cannot|then|which|rollbacks) mend\b|\b[Mm]ending\b"
        r"|\b(?:is|are|was|were|be|been|not|nothing|and|or|ends) mended\b",
        "repair, undo, put back, fix (the event `mend` keeps its name)",
        ("mend", "Mend"),
    ),
    "tell from": Pattern(
        r"\bfrom none\b|\btold from\b|\b(?:tells?|told) \w+ from\b",
        "distinguish, separate; is within the noise",
        (" from",),
    ),
    "says nothing of": Pattern(r"\b[Ss]ays? nothing of\b", "says nothing about", ("nothing of",)),
    "for want of": Pattern(r"\bfor want of\b", "without; because X is missing", ("for want of",)),
    "to be had": Pattern(r"\b(?:to|can|could) be had\b", "is available", ("be had",)),
    "against it": Pattern(
        r"\b(?:stands?|is) against (?:it|them)\b", "stands in the way", (" against ",)
    ),
    "nobody was served": Pattern(r"\bnobody was served\b", "outage", ("nobody",)),
    "as before": Pattern(
        r"\bservice (?:was |is )?as before\b", "the service has recovered", ("as before",)
    ),
    "what others met": Pattern(
        r"\b[Ww]hat the others met\b", "how unsuccessful operations ended", ("others met",)
    ),
    "what is what": Pattern(r"\bsays? what is what\b", "explains", ("what is what",)),
    "unless told": Pattern(r"\bunless told\b", "by default", ("unless told",)),
    "of yours": Pattern(r"\bof yours\b", "your own", ("of yours",)),
    "how it is spread": Pattern(
        r"\bsay how it is spread\b", "report the distribution", ("is spread",)
    ),
}
#: Lines that may have a pattern: a part of the line, and why.
EXCUSED = {
    "docs/clusters.md": {"it is `nobody`": "the user of that name"},
    "docs/lab.md": {"they are `nobody`": "the user of that name"},
    "docs/gamedays.md": {
        "inconclusive: go on": "a value of gameday.yaml",
        "`stop` or `go on`": "a value of gameday.yaml",
    },
    "experiments/gamedays/lab-aerospike.yaml": {"inconclusive: go on": "a value of gameday.yaml"},
    "experiments/gamedays/lab-mongodb.yaml": {"inconclusive: go on": "a value of gameday.yaml"},
    "loadgen/driver/postgresql/postgresql_test.go": {"nobody": "the user of that name"},
    "src/brownout/databases/aerospike/join.py": {'{"nobody":': "a key of evidence in run files"},
    "src/brownout/inventory/model.py": {"it is `nobody`": "the user of that name"},
    "src/brownout/machine/user_namespace.py": {"user `nobody`": "the user of that name"},
    "src/brownout/runs/gameday/spec.py": {'"go on"': "a value of gameday.yaml"},
    "src/brownout/show/report/template/parts.html.j2": {"is none %}": "a test of Jinja"},
    "src/brownout/show/report/template/report.html.j2": {"is none and": "a test of Jinja"},
}
_COMPILED = {name: re.compile(pattern.regex) for name, pattern in PATTERNS.items()}
#: A line's end within a sentence: quotes, indentation and comment signs count as one space.
_BREAK = re.compile(r"""[ \t]*["']?[ \t]*\n[ \t]*(?:#:?|//|\*|>|[rfb]{0,2}["'])?[ \t]*""")


@cache
def tracked() -> tuple[str, ...]:
    """Return the names of the texts, as git lists them."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *ROOMS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    names = [name for name in listed.stdout.split("\0") if name and not name.startswith(GENERATED)]
    return tuple(
        name for name in names if (ROOT / name).is_file() and not (ROOT / name).is_symlink()
    )


def text_of(path: Path) -> str:
    """Return the text of a file; nothing for one that is not text."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def in_one_line(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return the text with its line breaks as spaces, and from which place on which line counts."""
    parts, starts, length, line, last = [], [(0, 1)], 0, 1, 0
    for match in _BREAK.finditer(text):
        parts += [text[last : match.start()], " "]
        length += match.start() - last + 1
        line += match.group().count("\n")
        starts.append((length, line))
        last = match.end()
    return "".join([*parts, text[last:]]), starts


def odd_phrases(name: str, text: str) -> Iterator[str]:
    """Yield `file:line: pattern: phrase: what to write instead`, without the excused ones."""
    flat, starts = in_one_line(text)
    lines = text.split("\n")
    for kind, regex in _COMPILED.items():
        if not any(hint in flat for hint in PATTERNS[kind].hints):
            continue
        for match in regex.finditer(flat):
            number = starts[bisect_right(starts, (match.start(), len(lines) + 1)) - 1][1]
            if any(part in lines[number - 1] for part in EXCUSED.get(name, ())):
                continue
            yield f"{name}:{number}: {kind}: {match.group()!r}: write {PATTERNS[kind].better}"


def test_no_text_has_an_odd_phrase() -> None:
    texts = ((name, text_of(ROOT / name)) for name in tracked())
    assert [odd for name, text in texts for odd in odd_phrases(name, text)] == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("node `x` is no pod", "is no X"),
        ("# what is\n# no pod", "is no X"),
        ('    "a file that is "\n    f"no document"', "is no X"),
        ("Return the error of an answer that is none of success.", "is none"),
        ("the earlier one still goes on", "goes on"),
        ("// a plan that nobody\n// reads", "nobody"),
        ("what it lacks", "lacks"),
        ("how to mend what it cannot", "mend"),
    ],
)
def test_an_odd_phrase_is_reported(text: str, kind: str) -> None:
    assert [odd.split(": ")[1] for odd in odd_phrases("x.py", f"first\n{text}\n")] == [kind]


@pytest.mark.parametrize(
    "text",
    [
        "there is no pod, and there are none of that name",
        "it is no longer a member, and it is no more than 3 s late",
        "the fault has no undo; each `mend` is an event",
        "a black box; a slack node; an insurgent",
        "whether the run lasts",
    ],
)
def test_plain_english_is_left_alone(text: str) -> None:
    assert list(odd_phrases("x.py", text)) == []


@pytest.mark.parametrize("name", EXCUSED)
def test_every_excuse_is_still_needed(name: str) -> None:
    lines = text_of(ROOT / name).split("\n")
    for part, reason in EXCUSED[name].items():
        assert reason
        assert any(
            part in line for line in lines if any(r.search(line) for r in _COMPILED.values())
        )


#: Modules that end like a participle and are none: a noun, or the field's own term.
NOUNS = {
    "finding": "one line of `brownout doctor`",
    "rolling": "a rolling restart, the field's term",
    "speed": "of migrations",
    "testing": "for the tests of users, as in NumPy",
    "dialing": "of seeds, the server's own term",
    "clustering": "Aerospike's name of that part of the server",
    "forming": "of a cluster",
    "loading": "the load phase of a driver",
    "ending": "the end of a load",
    "closed": "a closed loop, the field's term",
    "streaming": "replication by a stream of the log, the field's term",
    "filled": "how far a fill is",
    "scripted": "the scripted server",
}


def test_modules_are_named_by_nouns() -> None:
    stems = {Path(name).stem.removesuffix("_test") for name in tracked() if is_code(name)}
    folders = {part for name in tracked() if is_code(name) for part in Path(name).parts[:-1]}
    ending = {stem for stem in stems | folders if re.search(r"(?:ing|ed)$", stem)}
    assert sorted(ending - set(NOUNS)) == []
    assert sorted(set(NOUNS) - ending) == []


def is_code(name: str) -> bool:
    """Return whether a file is Python or Go."""
    return name.endswith((".py", ".go"))


#: Names that tell how a value came about. A name says what it holds: `missing`, `labels`, `reply`.
VAGUE = frozenset({"found", "told", "said", "made", "known"})
#: Functions and arguments that keep their name, and why.
KEPT = {
    "src/brownout/session/activity.py": "`told` is an argument of a decorator that plug-ins use",
    "src/brownout/base/plugins.py": "`known` is asked by every room",
}


def vague_names(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of each local, argument or function that is called so."""
    for node, is_field in _nodes(ast.parse(text), within_class=False):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and not is_field:
            name = node.id
        elif isinstance(node, ast.arg):
            name = node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            name = node.name
        else:
            continue
        if name.strip("_") in VAGUE:
            yield node.lineno, name


def _nodes(node: ast.AST, *, within_class: bool) -> Iterator[tuple[ast.AST, bool]]:
    """Yield every node, and whether it stands in a class: a field may be a key of files."""
    for child in ast.iter_child_nodes(node):
        inside = isinstance(node, ast.ClassDef) or (
            within_class
            and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        )
        yield child, inside
        yield from _nodes(child, within_class=inside)


def _vague_in(names: Iterable[str]) -> list[str]:
    return [
        f"{name}:{line}: `{vague}`: name what it holds"
        for name in names
        for line, vague in vague_names(text_of(ROOT / name))
    ]


def test_names_say_what_they_hold() -> None:
    modules = [name for name in tracked() if name.endswith(".py") and name not in KEPT]
    assert _vague_in(modules) == []


def test_a_vague_name_is_reported() -> None:
    fields, method = "class C:\n    known: int\n", "    def _told(self, said): found = said\n"
    assert list(vague_names(fields + method)) == [(3, "_told"), (3, "said"), (3, "found")]
