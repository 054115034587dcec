"""The board as one line, for logs and for CI."""

from brownout.show.live.board import Board, Clock

__all__ = ["line"]


def line(board: Board) -> str:
    """Return phase, throughput, response time, errors, clocks and what is broken now.

    E.g. `method: kill_node n1 · t 24 s · 0 ok/s · 412 errors · service 2.9 s · BROKEN: n1`.
    """
    parts = [board.phase + (f": {board.detail}" if board.detail else "")]
    if board.progress and board.progress[1]:
        parts[0] += f" {100 * board.progress[0] // board.progress[1]} %"
    if board.countdown:
        parts.append(f"{board.countdown.elapsed_s:.0f} of at most {board.countdown.limit_s:.0f} s")
    if board.figures:
        figures = board.figures
        parts += [f"t {figures.t:.0f} s", f"{figures.tps:,.0f} ok/s"]
        if figures.p99_ms is not None:
            parts.append(f"p99 {figures.p99_ms:.1f} ms")
        parts.append(f"{figures.errors:,} errors")
    parts += [_clock(clock) for clock in board.clocks]
    if board.broken:
        parts.append("BROKEN: " + ", ".join(sorted(board.broken)))
    if board.outlook and board.outlook.broken:
        parts.append("over its limit: " + ", ".join(board.outlook.broken))
    return " · ".join(parts)


def _clock(clock: Clock) -> str:
    state = "" if clock.stopped else ("?" if clock.note.startswith("good") else "…")
    return f"{clock.name} {clock.seconds:.1f} s{state}"
