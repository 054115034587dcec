"""What rows that are longer than a bucket may hold: an outage at their edge, or a little all over.

A row of 30 s in which 23 % were served was out for 23 s, or slow all the time; the row cannot tell.
Two readings give the two ends: `as_one_outage` makes of what a row lost an outage at its edge, next
to rows in which nothing was served or where the dip is only a row or two long, and `as_evenly`
spreads it.

    served   ▇▇▇▇│▇▇__│____│__▇▇│▇▇▇▇   as one outage
    served   ▇▇▇▇│▄▄▄▄│____│▄▄▄▄│▇▇▇▇   evenly

The row that contains the fault was served as usual before it, as far as it was served at all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from brownout.measure.settings import MeasureSettings
from brownout.run.table import WIDTH_S

__all__ = ["Piece", "as_evenly", "as_one_outage"]

#: Below this share of its capacity a row served nothing.
_NOTHING = 0.01
#: Shorter pieces are not made.
_LEAST_S = 1e-6


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch from `start` to `end` in which `ok` were served, evenly, of those `offered`."""

    start: float
    end: float
    ok: float
    offered: float | None

    @property
    def length(self) -> float:
        """Seconds."""
        return self.end - self.start

    def capacity(self, usual: float) -> float:
        """Return how many would have been served: what was offered, or `usual` a second."""
        return usual * self.length if self.offered is None else self.offered

    def served(self, ok: float) -> Self:
        """Return the same stretch with another count."""
        return replace(self, ok=ok)

    def split(self, at: float, first_ok: float) -> "list[Piece]":
        """Return the parts before and after `at`; the first has `first_ok`."""
        if not self.start + _LEAST_S < at < self.end - _LEAST_S:
            return [self]
        share = (at - self.start) / self.length
        offered = None if self.offered is None else self.offered * share
        rest = None if self.offered is None or offered is None else self.offered - offered
        return [
            Piece(self.start, at, first_ok, offered),
            Piece(at, self.end, self.ok - first_ok, rest),
        ]


def as_evenly(
    pieces: Sequence[Piece],
    effective: float,
    usual: float,
    before: float,
    settings: MeasureSettings,
) -> list[Piece]:
    """Return the rows as they are, but for the one that contains the fault."""
    even_pieces: list[Piece] = []
    for piece in pieces:
        even_pieces += _at_the_fault(piece, effective, usual, settings)
    return even_pieces


def as_one_outage(
    pieces: Sequence[Piece],
    effective: float,
    usual: float,
    before: float,
    settings: MeasureSettings,
) -> list[Piece]:
    """Return the rows with what each bad one lost put together."""
    even_pieces = as_evenly(pieces, effective, usual, before, settings)
    floor = _floor(even_pieces, usual, before, settings)
    ratios = [_ratio(piece, usual) for piece in even_pieces]
    bad = [
        piece.start >= effective - _LEAST_S and ratio < floor and piece.length > 1.5 * WIDTH_S
        for piece, ratio in zip(even_pieces, ratios, strict=True)
    ]
    placed: list[Piece] = []
    for place, piece in enumerate(even_pieces):
        begins, ends = not _at(bad, place - 1), not _at(bad, place + 1)
        inner = place + 1 if begins else place - 1
        short = _at(bad, place + 2 if begins else place - 2) is False
        dark = short or ratios[inner] < _NOTHING
        if not bad[place] or not (begins or ends) or not (dark or (begins and ends)):
            placed.append(piece)
            continue
        capacity = piece.capacity(usual)
        length = piece.length * (1 - piece.ok / capacity)
        if begins and not ends:
            placed += piece.split(piece.end - length, piece.ok)
        else:
            placed += piece.split(piece.start + length, 0.0)
    return placed


def _at(bad: Sequence[bool], place: int) -> bool:
    return 0 <= place < len(bad) and bad[place]


def _ratio(piece: Piece, usual: float) -> float:
    capacity = piece.capacity(usual)
    return piece.ok / capacity if capacity else 1.0


def _floor(
    pieces: Sequence[Piece], usual: float, before: float, settings: MeasureSettings
) -> float:
    """Return the share of its capacity below which a row is bad: beyond what noise makes."""
    if any(piece.offered is not None for piece in pieces):
        return settings.dip_ratio
    ratios = np.array([_ratio(piece, usual) for piece in pieces if piece.end <= before + 1e-9])
    if not len(ratios) or not usual:
        return 0.0
    spread = 3 * 1.4826 * float(np.median(np.abs(ratios - np.median(ratios))))
    deepest = settings.theta_deepest * max(0.0, 1 - float(ratios.min()))
    return 1 - max(settings.theta_min, spread, deepest)


def _at_the_fault(
    piece: Piece, effective: float, usual: float, settings: MeasureSettings
) -> list[Piece]:
    """Split the row that contains the fault: it was served as usual until then."""
    if not piece.start < effective < piece.end or piece.length <= 1.5 * WIDTH_S:
        return [piece]
    share = (effective - piece.start) / piece.length
    first_ok = min(piece.ok, piece.capacity(usual) * share)
    if piece.ok > piece.capacity(usual) * (1 - settings.theta_min):  # nothing to put apart
        first_ok = piece.ok * share
    return piece.split(effective, first_ok)
