"""The board as a panel for a terminal, drawn with rich. It fits whatever width and height is left.

Colour only repeats what words, signs and shapes say as well.
"""

from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from brownout.show.live.board import Board, Clock, Figures, Mark
from brownout.show.live.plain import line
from brownout.show.live.sparkline import ASCII, BLOCKS, sparkline

__all__ = ["BoardView"]

LABEL = 11
#: A terminal prints `^C` behind the last character; it must not begin another line with it.
ECHO = 3
#: Response times are drawn by decades, from here to here at least.
FASTEST_MS, SLOWEST_MS = 0.1, 1000.0
LEAST_HEIGHT, LEAST_WIDTH = 14, 50
SHOWN_CAUSES = 4
SIGNS = {"break": "x", "mend": "o", "milestone": "|", "abort": "!"}
STYLES = {"break": "bold red", "mend": "green", "milestone": "cyan", "abort": "bold yellow"}


class BoardView:
    """Draws a board in the room that there is: a panel, or a line where a panel does not fit."""

    def __init__(self, board: Board) -> None:
        self._board = board

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        board, room = self._board, options.max_width - ECHO
        if options.size.height < LEAST_HEIGHT or options.max_width < LEAST_WIDTH:
            text = Text(line(board), no_wrap=True, overflow="ellipsis")
            text.truncate(room, overflow="ellipsis")
            yield text
            return
        width = room - LABEL - 5
        levels = ASCII if options.ascii_only else BLOCKS
        table = Table.grid(padding=(0, 1))
        table.add_column(width=LABEL, style="dim", no_wrap=True)
        table.add_column(width=width, no_wrap=True, overflow="ellipsis")
        for label, content in _rows(board, width, levels):
            table.add_row(label, content)
        title = Text(board.title or "brownout", style="bold", overflow="ellipsis")
        yield Panel(table, title=title, title_align="left", width=room, border_style="dim")


def _rows(board: Board, width: int, levels: str) -> Iterator[tuple[str, RenderableType]]:
    yield "now", _phase(board, width)
    if board.figures is not None:
        yield from _load(board, board.figures, width, levels)
    if board.broken:
        waits = (f"{node} (waits for {mend})" for node, mend in sorted(board.broken.items()))
        yield "BROKEN", Text(", ".join(waits), style="bold red")
    elif board.marks:
        yield "broken", Text("nothing")
    if board.clocks:
        yield "recovery", Group(*(_clock(clock) for clock in board.clocks))
    if board.outlook is not None:
        yield "so far", _outlook(board)
    if board.marks:
        yield "happened", _happened(board.marks, width)


def _phase(board: Board, width: int) -> Text:
    text = Text.assemble((board.phase, "bold"))
    if board.detail:
        text.append(f": {board.detail}")
    if board.countdown is not None:
        elapsed, limit = board.countdown.elapsed_s, board.countdown.limit_s
        text.append(f"  {elapsed:.0f} of at most {limit:.0f} s", style="cyan")
    if board.progress is not None and board.progress[1]:
        done, total = board.progress
        cells = max(10, min(30, width - len(text) - 10))
        filled = cells * done // total
        text.append(f"  [{'=' * filled}{' ' * (cells - filled)}] {100 * done // total} %")
    return text


def _load(board: Board, figures: Figures, width: int, levels: str) -> Iterator[tuple[str, Text]]:
    """Throughput and response time, each with its last seconds drawn, on one axis of time."""
    ok, slowest = figures.ok_per_s[-width:], figures.slowest_ms[-width:]
    first = figures.first_s + len(figures.ok_per_s) - len(ok)
    now = Text.assemble((f"{figures.tps:,.0f} ok/s", "bold"))
    if board.baseline_tps:
        share = 100 * figures.tps / board.baseline_tps
        now.append(f"  {share:.0f} % of {board.baseline_tps:,.0f}/s")
    now.append(f"  {figures.pending:,} pending  t {figures.t:.0f} s", style="dim")
    yield "throughput", now
    yield "", Text(sparkline(ok, board.baseline_tps or max(ok, default=1.0), levels), "green")
    if board.marks:
        yield "", _axis(board.marks, first, len(ok))
    yield "response", _response(figures)
    top = max(SLOWEST_MS, *slowest)
    yield "", Text(sparkline(slowest, top, levels, logarithmic=FASTEST_MS), "yellow")
    yield "errors", _errors(figures)


def _axis(marks: Sequence[Mark], first_s: int, seconds: int) -> Text:
    """A sign under the second of each mark; where two meet, the break or the abort is shown."""
    plain = [" "] * seconds
    styles: list[tuple[int, str]] = []
    for mark in sorted(marks, key=lambda mark: mark.kind in ("break", "abort")):
        place = int(mark.t) - first_s
        if 0 <= place < seconds:
            plain[place] = SIGNS[mark.kind]
            styles.append((place, STYLES[mark.kind]))
    row = Text("".join(plain))
    for place, style in styles:
        row.stylize(style, place, place + 1)
    return row


def _response(figures: Figures) -> Text:
    parts = [
        f"{name} {value:,.1f} ms"
        for name, value in (("p50", figures.p50_ms), ("p99", figures.p99_ms))
        if value is not None
    ]
    slowest = figures.slowest_ms[-1] if figures.slowest_ms else 0.0
    return Text("  ".join([*parts, f"slowest {slowest:,.1f} ms"]), style="bold")


def _errors(figures: Figures) -> Text:
    text = Text.assemble((f"{figures.errors:,}", "bold red" if figures.errors else "bold"))
    shown = list(figures.causes.items())[:SHOWN_CAUSES]
    rest = sum(figures.causes.values()) - sum(n for _, n in shown)
    words = [f"{cause} {n:,}" for cause, n in shown] + ([f"others {rest:,}"] if rest else [])
    if words:
        text.append("  " + " · ".join(words))
    return text


def _clock(clock: Clock) -> Text:
    sign = "✓" if clock.stopped and not clock.over else ("✗" if clock.over else "…")
    style = "bold red" if clock.over else ("green" if clock.stopped else "yellow")
    text = Text.assemble((f"{sign} {clock.name:<10}{clock.seconds:7.1f} s", style))
    if clock.limit_s is not None:
        text.append(f"  limit {clock.limit_s:g} s", style="dim")
    if clock.note:
        text.append(f"  {clock.note}", style="dim")
    return text


def _outlook(board: Board) -> Text:
    outlook = board.outlook
    if outlook is None or not (outlook.broken or outlook.holding):
        return Text("no limit can be judged yet")
    if outlook.broken:
        return Text("FAIL: " + ", ".join(outlook.broken), style="bold red")
    return Text(f"no limit is broken, {outlook.holding} can be judged yet", style="green")


def _happened(marks: Sequence[Mark], width: int) -> Text:
    """The latest marks, as many as fit, the newest last."""
    text = Text()
    for mark in reversed(marks):
        sign = (f"{SIGNS[mark.kind]} ", STYLES[mark.kind])
        words = Text.assemble(sign, f"{mark.t:.1f} s {mark.words}")
        if text and len(words) + len(text) + 3 > width:
            break
        text = Text.assemble(words, (" · ", "dim"), text) if text else words
    return text
