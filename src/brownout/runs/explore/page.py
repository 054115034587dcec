"""The page of an exploration: each finding first seen and at its shortest, and what was tried.

Pure, but for `write`.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from brownout.base.errors import Unsupported
from brownout.base.files import replace_file
from brownout.base.words import duration
from brownout.runs.explore.coverage import rows
from brownout.runs.explore.oracles import ORACLES, words_of
from brownout.runs.explore.record import Finding, Record, Try
from brownout.runs.explore.schedule import WHENS, Schedule
from brownout.show.report import sections
from brownout.show.report.grid import Cell, Grid, columns
from brownout.show.report.sections import Section

__all__ = ["gathered_from", "headline", "page", "write"]

_STEPS = "step:n | as it was first seen:wrap | the shortest that breaks the promise:wrap"
_COVERED = (
    f"fault and role | {' | '.join(f'{when}:n' for when in WHENS)} | different faults before it:n"
)
_TRIES = "schedule:n | why it was run | verdict:once | faults:wrap | what broke:wrap | run"


def headline(record: Record) -> str:
    """Return the result in a sentence."""
    tried, judged = len(record.searched), sum(each.is_judged for each in record.searched)
    on = record.server or record.request.cluster
    of = f"{tried} schedule{'s' * (tried != 1)} on {on}, {judged} judged"
    runs = f"{len(record.tries)} run{'s' * (len(record.tries) != 1)}"
    spent = duration(record.spent_s)
    if not record.findings:
        kept = "nothing broke the promise" if judged else "nothing could be judged"
        return f"{kept} in {of}, {runs}, {spent}"
    number = len(record.findings)
    broke = "sequence breaks" if number == 1 else "sequences break"
    return f"{number} {broke} the promise: {of}, {runs}, {spent}"


def write(record: Record) -> Path:
    """Write the page and the same as Markdown; return the page's path.

    Without jinja2 the page is left out, and the path is that of the Markdown.
    """
    path = record.path / "explore.md"
    replace_file(path, _markdown(record))
    with suppress(Unsupported):
        replace_file(record.path / "explore.html", page(record))
        return record.path / "explore.html"
    return path


def page(record: Record) -> str:
    """Return the page as HTML that needs nothing else; raises `Unsupported` without jinja2."""
    request = record.request
    return sections.page(
        f"Exploration of {request.cluster}",
        f"explore · {request.cluster} · seed {request.seed} · {record.began[:10]}",
        headline(record),
        list(_sections(record)),
        say=_say(record),
        made_from=f"the exploration in {record.path.name}",
    )


def _markdown(record: Record) -> str:
    parts = [f"# Exploration of {record.request.cluster}", headline(record), *_say(record)]
    for section in _sections(record):
        parts += [f"## {section.title}", *section.say, *(grid.markdown() for grid in section.grids)]
    return "\n\n".join(parts) + "\n"


def _say(record: Record) -> list[str]:
    request = record.request
    alone = request.shares > 1 and not record.gathered
    share = f", share {request.share + 1} of {request.shares}" if alone else ""
    return [
        *gathered_from(record),
        f"Drawn from seed {request.seed}{share}; each finding was run {request.repeats} times more "
        "and then shortened. Judged by what cannot be noise: "
        f"{'; '.join(map(words_of, ORACLES))}.",
    ]


def gathered_from(record: Record) -> Iterator[str]:
    """Say of which shares the record consists, and what is still to come."""
    if not record.gathered:
        return
    shares = record.request.shares
    yield f"Gathered from {len(record.gathered)} of {shares} shares."
    for numbers, why in ((record.missing, "not there"), (record.unfinished, "not over")):
        if numbers:
            yield f"Share {', '.join(map(str, numbers))} of {shares}: {why}."


def _sections(record: Record) -> Iterator[Section]:
    for finding in record.findings:
        yield _of_finding(record, finding)
    covered = [
        [row.step, *map(str, row.moments), str(row.predecessors)] for row in rows(record.cells)
    ]
    yield Section(
        "What was tried",
        [Grid("Faults that took effect, by when they began", columns(_COVERED), covered)],
        ["A fault counts for the moment at which it really began."],
    )
    left_out = record.space.get("left_out", {})
    if left_out:
        rows_of = [[name, str(why)] for name, why in left_out.items()]
        yield Section("What was not drawn", [Grid("", columns("fault | why:wrap"), rows_of)])
    yield Section("Every run", [Grid("", columns(_TRIES), list(map(_row, record.tries)))])


def _of_finding(record: Record, finding: Finding) -> Section:
    first, shortest = Schedule.of(finding.schedule), Schedule.of(finding.shrunk)
    steps = [
        [str(number), _step(first, number), _step(shortest, number)]
        for number in range(1, len(first.steps) + 1)
    ]
    say = [
        f"First seen in {finding.run or 'a run'}: {finding.words}.",
        f"Again in {finding.hits} of {finding.judged} runs of the same schedule"
        + (
            f", and in {finding.shrunk_hits} of {finding.shrunk_judged} of the shortest."
            if finding.shrunk_judged
            else "."
        ),
    ]
    if finding.open:
        say.append(f"It is not fully shortened: {finding.open}.")
    if finding.seen_again:
        listed = ", ".join(map(str, finding.seen_again))
        say.append(f"Schedules that contain the shortest and broke the promise too: {listed}.")
    if finding.experiment:
        say.append(f"Run it again: `brownout run {finding.experiment}`")
    title = f"Finding {finding.number}: {words_of(finding.oracle)}"
    return Section(title, [Grid("", columns(_STEPS), steps)], say)


def _step(schedule: Schedule, number: int) -> str:
    if number > len(schedule.steps):
        return ""
    step = schedule.steps[number - 1]
    return step.words if number == 1 else f"{step.moment}: {step.words}"


def _row(each: Try) -> Sequence[str | Cell]:
    link = f"{each.run}/report.html" if each.run else ""
    return [
        str(each.number),
        f"{each.purpose} {each.attempt}",
        each.verdict,
        Schedule.of(each.schedule).words,
        "; ".join(each.broken.values()),
        Cell(Path(each.run).name if each.run else "none was opened", link=link),
    ]
