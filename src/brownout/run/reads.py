"""The reads of verified streams: which returned an older state than one acknowledged before.

A read is *stale* if a newer state was acknowledged before it was sent, and *dirty* if it returned
a write that was never acknowledged and is gone. Whether that is an error depends on the guarantee
that the stream's reads are to have: `linearizable` (nothing stale, nothing dirty), `session`
(nothing older than what the same lane has acknowledged or read, nothing dirty) or `eventual` (both
are allowed).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brownout.run.shape import is_count

__all__ = ["LaneReads", "Reads", "is_of_reads", "is_sound", "reads_of"]

Line = Mapping[str, Any]
_GUARANTEES = ("eventual", "session", "linearizable")
_COUNTS = ("checked", "stale", "session", "dirty", "stale_missed")
#: So many stale reads are kept one by one.
_EXAMPLES = 20


@dataclass(frozen=True, slots=True)
class LaneReads:
    """What the checked reads of one stream in one lane came to.

    `asked` is whom reads ask, as the driver was told. `session` are the stale ones that are older
    than what the lane itself had. `undecided` returned a write that is not acknowledged, of a key
    that could not be read afterwards. A stale read missed at most `stale_missed` acknowledged
    writes, the first of which had been acknowledged `stale_s` before. `first_t` and `last_t` are
    when the first and the last stale read was sent.
    """

    stream: str
    lane: str
    guarantee: str
    asked: str = ""
    checked: int = 0
    stale: int = 0
    session: int = 0
    dirty: int = 0
    undecided: int = 0
    stale_missed: int = 0
    stale_s: float = 0.0
    first_t: float | None = None
    last_t: float | None = None

    @property
    def stale_against(self) -> int:
        """The stale reads that the guarantee excludes."""
        return {"linearizable": self.stale, "session": self.session}.get(self.guarantee, 0)

    @property
    def dirty_against(self) -> int:
        """The dirty reads that the guarantee excludes."""
        return 0 if self.guarantee == "eventual" else self.dirty

    @property
    def words(self) -> str:
        """`12 stale and 0 dirty of 4,000 reads of orders (session; primary) in lane a:1, …`."""
        asked = f"; {self.asked}" if self.asked else ""
        age = f", up to {self.stale_s:.3g} s and {self.stale_missed:,} writes old"
        return (
            f"{self.stale:,} stale and {self.dirty:,} dirty of {self.checked:,} reads of "
            f"{self.stream} ({self.guarantee}{asked}) in lane {self.lane}"
            f"{age if self.stale else ''}"
        )


@dataclass(frozen=True, slots=True)
class Reads:
    """What the checked reads came to, by stream and lane; `examples` has some of the stale ones."""

    lanes: tuple[LaneReads, ...] = ()
    examples: tuple[Mapping[str, Any], ...] = field(default=())

    @property
    def checked(self) -> int:
        """All reads that were held against the ledger."""
        return sum(lane.checked for lane in self.lanes)

    def bounds(self, measure: str) -> tuple[float, float] | None:
        """Return the least and the most that a measure may be; None where no read was checked."""
        if not self.checked:
            return None
        if measure == "stale_age":
            return self._same(max(lane.stale_s for lane in self.lanes))
        if measure == "stale_writes":
            return self._same(max(lane.stale_missed for lane in self.lanes))
        stale = sum(lane.stale_against for lane in self.lanes)
        dirty = sum(lane.dirty_against for lane in self.lanes)
        if measure == "stale_reads":
            return self._same(stale)
        if measure == "stale_reads_allowed":
            return self._same(sum(lane.stale for lane in self.lanes) - stale)
        strict = sum(lane.undecided for lane in self.lanes if lane.guarantee != "eventual")
        if measure == "dirty_reads":
            return dirty, dirty + strict
        allowed = sum(lane.dirty for lane in self.lanes) - dirty
        return allowed, allowed + sum(lane.undecided for lane in self.lanes) - strict

    @staticmethod
    def _same(value: float) -> tuple[float, float]:
        return value, value

    @property
    def against(self) -> tuple[LaneReads, ...]:
        """The lanes in which the guarantee did not hold."""
        return tuple(lane for lane in self.lanes if lane.stale_against or lane.dirty_against)

    @property
    def words(self) -> str:
        """`none of 4,000 checked reads was stale or dirty`, or how many were, and where."""
        noted = [lane for lane in self.lanes if lane.stale or lane.dirty]
        if not noted:
            return f"none of {self.checked:,} checked reads was stale or dirty"
        return "; ".join(lane.words for lane in noted)


def is_of_reads(line: Line) -> bool:
    """Whether a line of the ledger is about checked reads: those of a lane, or one stale read."""
    return "reads" in line or "stale" in line


def is_sound(line: Line) -> bool:
    """Whether every number of such a line is one, and none is missing."""
    if "reads" not in line:
        texts, numbers = ("stale", "stream", "lane"), ("t", "age_s")
        return (
            all(isinstance(line.get(name), str) for name in texts)
            and all(_is_number(line.get(name)) for name in numbers)
            and all(is_count(line.get(name)) for name in ("seq", "acked"))
        )
    return (
        all(isinstance(line.get(name), str) for name in ("reads", "lane", "from"))
        and line.get("guarantee") in _GUARANTEES
        and all(is_count(line.get(name)) for name in _COUNTS)
        and _is_number(line.get("stale_s"))
        and all(_is_number(line[name]) for name in ("first_t", "last_t") if name in line)
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e9


def reads_of(
    lines: Sequence[Line],
    dirty: Mapping[tuple[str, str], int],
    undecided: Mapping[tuple[str, str], int],
) -> Reads | None:
    """Return what the lines of all generators say together; None where no read was checked.

    `dirty` and `undecided` are reads by stream and lane, as the read-back decides them.
    """
    groups: dict[tuple[str, str, str, str], list[Line]] = {}
    for line in lines:
        if "reads" in line:
            at = (line["reads"], line["lane"], line["guarantee"], line["from"])
            groups.setdefault(at, []).append(line)
    if not groups:
        return None
    lanes = []
    for (stream, lane, guarantee, asked), those in sorted(groups.items()):
        at_lane = (stream, lane)
        lanes.append(
            LaneReads(
                stream=stream,
                lane=lane,
                guarantee=guarantee,
                asked=asked,
                checked=_sum(those, "checked"),
                stale=_sum(those, "stale"),
                session=_sum(those, "session"),
                dirty=_sum(those, "dirty") + dirty.get(at_lane, 0),
                undecided=undecided.get(at_lane, 0),
                stale_missed=max(int(line["stale_missed"]) for line in those),
                stale_s=max(float(line["stale_s"]) for line in those),
                first_t=min((line["first_t"] for line in those if "first_t" in line), default=None),
                last_t=max((line["last_t"] for line in those if "last_t" in line), default=None),
            )
        )
    stale = sorted((line for line in lines if "stale_s" not in line), key=lambda line: line["t"])
    examples = tuple({"key": each["stale"], **_rest(each)} for each in stale[:_EXAMPLES])
    return Reads(tuple(lanes), examples)


def _sum(lines: Iterable[Line], name: str) -> int:
    return sum(int(line[name]) for line in lines)


def _rest(example: Line) -> dict[str, Any]:
    return {name: example[name] for name in ("stream", "lane", "t", "seq", "acked", "age_s")}
