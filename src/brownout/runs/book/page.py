"""A book as people and programs read it: one HTML page, Markdown, and JSON data.

Every figure is computed from the runs; a stand-in's run is refused.
"""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from brownout.base.errors import ConfigurationError, RunDirectoryError, Unsupported
from brownout.base.words import duration
from brownout.judge.analysis import analyze
from brownout.measure.measures import described, label
from brownout.run.metadata import write_json
from brownout.runs.book.cells import (
    COMPARED,
    NOT_MEASURED,
    ROWS,
    Cell,
    Pair,
    figure,
    pairs,
    words_of,
)
from brownout.runs.book.perseus import NAMES, Perseus, perseus_of
from brownout.runs.book.record import Capacity, Key, Record, cells_of
from brownout.runs.book.spec import Book, Engine, Published
from brownout.runs.dip import share_of_baseline
from brownout.runs.outcomes import cells as dotted
from brownout.runs.outcomes import outcomes
from brownout.runs.run_set import JUDGED, LEAST, FinishedRun, Runs, Spread, median, never
from brownout.runs.share import excluded_words, share_words
from brownout.show.report import axes
from brownout.show.report.grid import Cell as Words
from brownout.show.report.grid import Column, Grid, columns, flatten
from brownout.show.report.html import save
from brownout.show.report.plot import Plot
from brownout.show.report.sections import Section, page
from brownout.show.report.values import NONE, signed
from brownout.show.report.words import number

__all__ = ["Edition", "document", "edition_of", "html", "markdown", "write"]

_BEFORE_S, _AFTER_S = 5.0, 60.0
_NOTE = (
    "Each cell: the median, the worst, and a 95 % interval of the median; one figure where all "
    "runs agree. Two outcomes stand with how many runs had each, and have no median. Each run is "
    "a dot; the dots of a row are on one scale from 0."
)
_TEST = (
    f"Two engines are called different only by the gate's test: Mann-Whitney, two-sided, {LEAST} "
    "runs of each at least, corrected for the measures of a row, and not for the number of rows."
)
_DEFINED = (
    "By the definitions of Perseus. Its loops each use one node in a closed loop; our load is in "
    "open loop and its driver chooses the node, so a second counts as down if nothing was served "
    "in it, and as partial if less than 99 % of what was due in it was. “Isolation” stands for "
    "the fault of the row; “never” means not before the node returned."
)


@dataclass(frozen=True, slots=True)
class Edition:
    """All that a page says: of the `cells` that were tried, or have a reason why not.

    `waiting` are the others, of which nothing was run yet. `beside` says that the runs are
    published with the page.
    """

    book: Book
    record: Record
    cells: tuple[Cell, ...]
    waiting: tuple[Key, ...]
    published: tuple[Published, ...]
    beside: bool = False

    @property
    def engines(self) -> list[Engine]:
        """The engines that have cells."""
        shown = {cell.key.engine for cell in self.cells}
        return [engine for engine in self.book.engines if engine.name in shown]

    @property
    def parts(self) -> list[tuple[str, list[Cell]]]:
        """The cells by fault and load, each with its title."""
        return [
            (f"{fault}, {load}", list(cells))
            for (fault, load), cells in groupby(
                sorted(self.cells, key=self._order), lambda cell: (cell.key.fault, cell.key.load)
            )
        ]

    def link(self, run: FinishedRun) -> str:
        """Return where the page's links to a run lead: its directory, or what is published."""
        return f"runs/{run.run_id}.txt" if self.beside else self.record.where(run.path)

    def search(self, capacity: Capacity) -> str:
        """Return where the page's link to the search for a capacity leads."""
        return f"runs/{Path(capacity.search).name}.html" if self.beside else capacity.search

    def _order(self, cell: Cell) -> tuple[int, float, int]:
        faults = [fault.name for fault in self.book.faults]
        engines = [engine.name for engine in self.book.engines]
        return faults.index(cell.key.fault), cell.key.share, engines.index(cell.key.engine)


def edition_of(
    book: Book, record: Record, published: Sequence[Published], anew: bool = False
) -> Edition:
    """Read the runs of a book; `anew` computes all figures from their raw files first.

    Raises `ConfigurationError` with every run that is a stand-in's or is gone.
    """
    problems: list[str] = []
    cells, waiting = [], []
    for engine in book.engines:
        for key, _ in cells_of(book, engine):
            cell_runs, why = record.of(key), record.why_not(book, key)
            if not cell_runs and not why:
                waiting.append(key)
                continue
            counted = [record.path / each.run for each in cell_runs if each.verdict in JUDGED]
            runs = []
            for path in counted:
                try:
                    if anew:
                        analyze(path)
                    runs.append(FinishedRun.read(path))
                except RunDirectoryError as error:
                    problems.append(str(error))
            problems += [
                f"{run.path}: is a run of a stand-in, wanted a real server: a stand-in's figures "
                "say nothing about a database"
                for run in runs
                if run.impact.stand_in
            ]
            cells.append(Cell(key, Runs(runs), len(cell_runs), why))
    if problems:
        raise ConfigurationError(problems, "a book needs all of its runs, beside it as they were")
    return Edition(book, record, tuple(cells), tuple(waiting), tuple(published))


def write(edition: Edition, place: Path) -> list[Path]:
    """Write the data, the Markdown and the page into the directory `place`; return their paths.

    Without jinja2, the page is left out.
    """
    files = [place / name for name in ("figures.json", "book.md", "book.html")]
    write_json(files[0], document(edition))
    files[1].write_text(markdown(edition), encoding="utf-8")
    with suppress(Unsupported):
        save(files[2], html(edition))
        return files
    return files[:2]


def html(edition: Edition) -> str:
    """Return the page as HTML that needs nothing else; raises `Unsupported` without jinja2."""
    sections = [
        *(_part(edition, title, cells) for title, cells in edition.parts),
        Section("By the definitions of Perseus", [_perseus(edition), *_published(edition)]),
        Section("Servers, drivers and capacities", _settings(edition)),
        Section("Runs", [_runs(edition)]),
    ]
    book = edition.book
    return page(
        book.title or book.name,
        f"book {book.name} · workload {book.workload} · {_deadline(edition)}",
        book.title or book.name,
        sections,
        say=[_summary(edition), _NOTE],
        deadline=_deadline(edition),
        made_from=f"{sum(len(cell.runs) for cell in edition.cells)} runs",
    )


def markdown(edition: Edition) -> str:
    """Return the same tables as Markdown."""
    blocks = [f"# {edition.book.title or edition.book.name}", _summary(edition), _NOTE]
    for title, cells in edition.parts:
        blocks += [f"## {title}", replace(_table(edition, title, cells), caption="").markdown()]
        blocks += [grid.markdown() for grid in _differences(title, cells)]
    grids = [_perseus(edition), *_published(edition), *_settings(edition)]
    blocks += ["## By the definitions of Perseus, and settings", *(g.markdown() for g in grids)]
    blocks.append("## Runs")
    for cell in edition.cells:
        links = [f"- [{run.run_id}]({edition.link(run)}): {run.verdict}" for run in cell.runs]
        blocks += [f"### {_anchor(cell)}", "\n".join(links) or (cell.why or "no runs")]
    return "\n\n".join(blocks) + "\n"


def document(edition: Edition) -> dict[str, Any]:
    """Return all figures as JSON data: the values of each run, in the measures' own units."""
    record = edition.record
    contents: dict[str, Any] = {
        "schema_version": 1,
        "book": record.book,
        "began": record.began,
        "ended": record.ended,
        "capacities": {
            name: {**asdict(each), "search": edition.search(each)}
            for name, each in record.capacities.items()
        },
        "cells": [_cell_document(edition, cell) for cell in edition.cells],
        "waiting": [asdict(key) for key in edition.waiting],
        "pairs": [_pair_document(pair) for _, cells in edition.parts for pair in pairs(cells)],
        "published": [each.model_dump(mode="json") for each in edition.published],
    }
    return dict(never(contents))


def _cell_document(edition: Edition, cell: Cell) -> dict[str, Any]:
    ours = [perseus_of(run) for run in cell.runs]
    return {
        **asdict(cell.key),
        "why_not": cell.why,
        "tried": cell.tried,
        "runs": [edition.link(run) for run in cell.runs],
        "verdicts": [run.verdict for run in cell.runs],
        "figures": {
            each.measure: {
                "values": list(each.values),
                "outcomes": [list(part) for part in each.two],
                "median": each.spread.median if each.spread and not each.two else None,
                "worst": each.spread.worst if each.spread else None,
                "interval": [each.spread.low, each.spread.high]
                if each.spread and not each.two
                else None,
            }
            for each in cell.figures
        },
        "perseus": [asdict(each) if each else None for each in ours],
    }


def _pair_document(pair: Pair) -> dict[str, Any]:
    return {
        "first": asdict(pair.first.key),
        "second": asdict(pair.second.key),
        "measures": {
            each.measure: {
                "shift": each.shift.estimate if each.shift else None,
                "p": each.p,
                "told_apart": each.told_apart,
            }
            for each in pair.differences
        },
    }


def _part(edition: Edition, title: str, cells: Sequence[Cell]) -> Section:
    return Section(
        title,
        [_table(edition, title, cells), *_differences(title, cells)],
        pictures=[picture for cell in cells if (picture := _picture(cell))],
        small=True,
    )


def _table(edition: Edition, title: str, cells: Sequence[Cell]) -> Grid:
    """A row a measure, a column an engine; every figure leads to its runs."""
    heads = [Column("measure"), *(Column(cell.key.engine, "wrap") for cell in cells)]

    def row(
        name: str, texts: Iterable[str], measured: Sequence[Sequence[float]] = ()
    ) -> list[str | Words]:
        strips = [each.dots for each in dotted("", measured)] or [()] * len(cells)
        linked = (Words(text, link=f"#{_anchor(cell)}", dots=strip)
                  for text, cell, strip in zip(texts, cells, strips, strict=True))  # fmt: skip
        return [name, *linked]

    rows = [
        row("server", (_server(cell) for cell in cells)),
        row("runs", (_counted(cell) for cell in cells)),
        row("writes were lost in", (_lossy(cell) for cell in cells)),
        row("maximum throughput", (_capacity(edition, cell) for cell in cells)),
        *(
            row(
                label(name),
                (_figure(cell, name) for cell in cells),
                [figure(name, cell.runs).values for cell in cells],
            )
            for name in ROWS
        ),
    ]
    counts = sorted({len(cell.runs) for cell in cells if cell.runs})
    note = "; ".join(map(excluded_words, counts))
    return Grid(title, heads, rows, f"{note[:1].upper()}{note[1:]}." if note else "")


def _server(cell: Cell) -> str:
    """What was tested, with its version, and when: `stone 6.0.5, 2026-11-25`."""
    if not cell.runs:
        return NONE
    servers = " and ".join(dict.fromkeys(run.server for run in cell.runs))
    return f"{servers}, {cell.runs.dates}"


def _lossy(cell: Cell) -> str:
    """In how many runs acknowledged writes were lost, and what that says of all runs."""
    values = figure("lost_writes", cell.runs).values
    return share_words(sum(value > 0 for value in values), len(values)) if values else NONE


def _figure(cell: Cell, measure: str) -> str:
    """A measure in words. Where 0 is not an amount, the runs with it are counted apart."""
    if not cell.runs:
        return NONE
    definition = described(measure)
    if definition is None or not definition.zero:
        return figure(measure, cell.runs).words
    others = Runs(run for run in cell.runs if run.value(measure) != 0)
    if not others:
        return definition.zero
    words, n = figure(measure, others).words, len(cell.runs)
    return words if len(others) == n else f"{words}; {definition.zero} in {n - len(others)} of {n}"


def _counted(cell: Cell) -> str:
    """`5`, `5, and 1 that could not be judged`, or why there are none."""
    if cell.why and not cell.runs:
        return f"not run: {cell.why}"
    spoilt = cell.tried - len(cell.runs)
    return f"{len(cell.runs)}" + (f", and {spoilt} that could not be judged" if spoilt else "")


def _capacity(edition: Edition, cell: Cell) -> str:
    capacity = edition.record.capacities.get(cell.key.engine)
    if capacity is None:
        return NOT_MEASURED
    return ("at least " if capacity.bound != "exact" else "") + f"{number(capacity.rate)}/s"


def _differences(title: str, cells: Sequence[Cell]) -> list[Grid]:
    compared = pairs(cells)
    if not compared:
        return []
    heads = " | ".join(["first", "second", *(f"{label(name)}:wrap" for name in COMPARED)])
    rows = [
        [pair.first.key.engine, pair.second.key.engine, *_told_apart(pair)] for pair in compared
    ]
    return [Grid(f"{title}: which engines differ", columns(heads), rows, _TEST)]


def _told_apart(pair: Pair) -> list[str]:
    texts = []
    for each in pair.differences:
        if each.shift is None or each.p is None:
            texts.append(f"fewer than {LEAST} values")
        elif not each.told_apart:
            texts.append("not told apart")
        else:
            higher = "second" if each.shift.estimate > 0 else "first"
            size = signed(each.measure, abs(each.shift.estimate))
            texts.append(f"{higher} higher by {size} (p {each.p:.2g})")
    return texts


def _perseus(edition: Edition) -> Grid:
    heads = " | ".join(["engine", "fault and load", *(f"{name}:wrap" for name in NAMES.values())])
    rows = []
    for title, cells in edition.parts:
        for cell in cells:
            figures = [each for run in cell.runs if (each := perseus_of(run)) is not None]
            if figures:
                rows.append([cell.key.engine, title, *_in_words(figures)])
    return Grid("Our runs", columns(heads), rows, _DEFINED)


def _in_words(figures: Sequence[Perseus]) -> list[str]:
    texts = []
    for name in NAMES:
        values = [v for each in figures if (v := getattr(each, name)) is not None]
        two = outcomes("blackout", values)
        middle = median(values)
        worst = max(values, default=0.0)
        spread = None if middle is None else Spread(name, (), 0, middle, worst, None, None)
        short = values if len(values) < LEAST else values[: LEAST - 1]  # no interval of seconds
        shown = values if two else short
        texts.append(words_of("blackout", shown, len(shown), spread, two))
    return texts


def _published(edition: Edition) -> list[Grid]:
    """The tables of others, each marked with where it is from, its year and its method."""
    heads = " | ".join(["system", "version", *(f"{name}:wrap" for name in NAMES.values())])
    return [
        Grid(
            f"Published by others: {each.source}, {each.year}",
            columns(heads),
            [[row.system, row.version, *(getattr(row, name) for name in NAMES)]
             for row in each.rows],
            f"Not measured by us. Method: {each.how}.",
        )
        for each in edition.published
    ]  # fmt: skip


def _settings(edition: Edition) -> list[Grid]:
    record, rows = edition.record, []
    for engine in edition.engines:
        run = next((r for c in edition.cells if c.key.engine == engine.name for r in c.runs), None)
        capacity = record.capacities.get(engine.name)
        rows.append(
            [
                engine.name,
                engine.cluster,
                run.server if run else NOT_MEASURED,
                run.driver if run else NOT_MEASURED,
                _listed(record.labs.get(engine.name, {})),
                _listed(engine.load),
                Words(f"{number(capacity.rate)}/s", link=edition.search(capacity))
                if capacity
                else NOT_MEASURED,
            ]
        )
    heads = "engine | cluster | server | driver:wrap | lab:wrap | changes of the workload:wrap | " \
            "maximum throughput:n"  # fmt: skip
    return [Grid("Settings", columns(heads), rows)]


def _listed(settings: Any) -> str:
    return ", ".join(f"{name} {value}" for name, value in flatten(settings) if name) or NONE


def _runs(edition: Edition) -> Grid:
    rows: list[list[str | Words]] = []
    for cell in edition.cells:
        anchor = _anchor(cell)
        texts = [cell.key.fault, cell.key.load]
        if not cell.runs:
            rows.append([Words(cell.key.engine, anchor=anchor), *texts, "not run", cell.why])
        for n, run in enumerate(cell.runs):
            where = Words(run.run_id, link=edition.link(run))
            head = Words(cell.key.engine, anchor="" if n else anchor)
            rows.append([head, *texts, run.verdict, where])
    return Grid("Every run", columns("engine | fault | load | verdict:once | run"), rows)


def _picture(cell: Cell) -> str:
    """The dip of every run of a cell; all pictures have the same axes."""
    plot = Plot(
        axes.time(-_BEFORE_S, _AFTER_S, 7), axes.linear(120.0, " %"),
        width=360, height=240, in_page=True,
    )  # fmt: skip
    lines = []
    for run in cell.runs:
        shares = share_of_baseline(run)
        if shares is not None:
            points = [
                (float(t), float(share))
                for t, share in zip(*shares, strict=True)
                if -_BEFORE_S <= t <= _AFTER_S
            ]
            lines.append(plot.line(points, "one"))
    title = f"{cell.key.engine}, {cell.key.fault}"
    return plot.svg(title, lines, "since the fault's effect", "of the baseline") if lines else ""


def _summary(edition: Edition) -> str:
    tried = sum(cell.tried for cell in edition.cells)
    counted = sum(len(cell.runs) for cell in edition.cells)
    spoilt = f"; {tried - counted} more could not be judged" if tried > counted else ""
    shown, waiting = len(edition.cells), len(edition.waiting)
    cells = f"{shown} of {shown + waiting} cells" if waiting else f"{shown} cells"
    left = " The other cells have not been run yet." if waiting else ""
    unfinished = "" if edition.record.ended or waiting else "; not complete"
    return (
        f"{counted} runs in {cells}{spoilt}. Begun on {edition.record.began[:10]}{unfinished}."
        f"{left} Every engine had the same data, the same shares of its own capacity and a "
        f"{_deadline(edition)}."
    )


def _deadline(edition: Edition) -> str:
    deadlines = {run.impact.deadline_s for cell in edition.cells for run in cell.runs}
    words = sorted(duration(each) for each in deadlines if each is not None)
    return f"deadline of {' and '.join(words)}" if words else "deadline that is not known"


def _anchor(cell: Cell) -> str:
    """What a link names a cell's runs by; as a heading of Markdown it is its own name."""
    words = f"runs {cell.key.engine} {cell.key.fault} {100 * cell.key.share:g}"
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")
