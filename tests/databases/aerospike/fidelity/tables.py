"""Writing the comparison as Markdown. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median

from tests.databases.aerospike.fidelity import measures
from tests.databases.aerospike.fidelity.answers import Compared
from tests.databases.aerospike.fidelity.trial import Trial

__all__ = ["answers", "errors", "faults", "inserted"]

BEGIN, END = "<!-- fidelity: begin -->", "<!-- fidelity: end -->"

#: One row: what it is called, of which fault, how it is read off a trial, how it is written.
Row = tuple[str, str, Callable[[Trial], float | None], str]

_ROWS: tuple[Row, ...] = (
    ("survivors say “five, stable” until", "kill-wipe", measures.healthy_until, "+{:.2f} s"),
    ("heartbeats expire (log)", "kill-wipe", lambda t: t.logged.get("expired"), "+{:.2f} s"),
    ("new cluster key (log)", "kill-wipe", lambda t: t.logged.get("key"), "+{:.2f} s"),
    ("rebalanced (log)", "kill-wipe", lambda t: t.logged.get("rebalanced"), "+{:.2f} s"),
    ("last error", "kill-wipe", measures.last_error, "+{:.1f} s"),
    ("reads, +0.3 to +1.7 s", "kill-wipe", lambda t: 100 * measures.dip(t, "reads"), "{:.0f} %"),
    ("writes, +0.3 to +1.7 s", "kill-wipe", lambda t: 100 * measures.dip(t, "writes"), "{:.0f} %"),
    ("acknowledged writes lost", "kill-wipe", lambda t: t.lost, "{:.0f}"),
    ("migrations of the wiped node", "kill-wipe", measures.to_migrate, "{:.0f}"),
    ("… rejoined after its start", "kill-wipe", measures.rejoined, "{:.1f} s"),
    ("… redundant after its start", "kill-wipe", measures.redundant, "{:.1f} s"),
    ("migrations of a node not wiped", "kill", measures.to_migrate, "{:.0f}"),
    ("… redundant after its start", "kill", measures.redundant, "{:.1f} s"),
    ("… acknowledged writes lost", "kill", lambda t: t.lost, "{:.0f}"),
    ("pause of 0.8 s: slowest operation", "pause", measures.worst_ms, "{:.0f} ms"),
    ("… errors", "pause", lambda t: sum(measures.errors(t).values()), "{:.0f}"),
)
_NOTHING = "–"


def faults(trials: Mapping[str, Mapping[str, Sequence[Trial]]]) -> str:
    """Return a row a measure and a column a source; `trials` is by source, then by fault."""
    head = ["", *trials]
    rows = [
        [name, *(_cell(found.get(fault, ()), read, form) for found in trials.values())]
        for name, fault, read, form in _ROWS
    ]
    return _table(head, rows)


def errors(trials: Mapping[str, Mapping[str, Sequence[Trial]]]) -> str:
    """Return each error's share of the writes due in the 2.5 s after the kill, by code."""
    shares = {where: _shares(found.get("kill-wipe", ())) for where, found in trials.items()}
    codes = sorted({code for share in shares.values() for code in share})
    rows = [
        [_named(code), *(f"{100 * share.get(code, 0):.1f} %" for share in shares.values())]
        for code in codes
    ]
    return _table(["error, by the C client's code", *trials], rows)


def answers(compared: Iterable[Compared]) -> str:
    """Return what is the same in a sentence, and what differs in a table."""
    found = list(compared)
    same = [one.command for one in found if one.verdict == "same"]
    shape = [one.command for one in found if one.verdict == "shape"]
    differs = [one for one in found if one.verdict == "differs"]
    return "\n\n".join(
        (
            f"Of {len(found)} commands captured, {len(same)} are answered word for word: "
            f"{_listed(same)}.",
            f"{len(shape)} have the same names and form, with values of their own: "
            f"{_listed(shape)}.",
            f"{len(differs)} differ:",
            _table(
                ["command", "captured, and found", "why"],
                [[f"`{one.command}`", one.difference, one.reason] for one in differs],
            ),
        )
    )


def inserted(text: str, tables: str) -> str:
    """Return `text` with `tables` between its two marks."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the file has no `{BEGIN}` and `{END}`")
    return f"{before}{BEGIN}\n\n{tables}\n\n{END}{after}"


def _cell(trials: Sequence[Trial], read: Callable[[Trial], float | None], form: str) -> str:
    values = [value for trial in trials if (value := read(trial)) is not None]
    return form.format(median(values)) if values else _NOTHING


def _shares(trials: Sequence[Trial]) -> dict[str, float]:
    each = [measures.errors(trial) for trial in trials]
    codes = {code for one in each for code in one}
    return {code: median(one.get(code, 0.0) for one in each) for code in codes}


def _named(code: str) -> str:
    """Return `w-14` in words."""
    kind = "write" if code.startswith("w") else "read"
    doubt = ", in doubt" if code.endswith("d") else ""
    number = code.strip("rwd")
    words = {
        "-14": "too many errors: the client's circuit breaker",
        "-10": "connection refused or reset",
        "-8": "no connection free",
        "9": "time-out",
        "11": "partition unavailable",
    }
    return f"{kind} {number}{doubt}: {words.get(number, 'other')}"


def _listed(commands: Sequence[str]) -> str:
    return ", ".join(f"`{command}`" for command in commands)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    rule = ["---", *["--:" for _ in head[1:]]] if len(head) != 3 else ["---"] * 3
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *rows))
