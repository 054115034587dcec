"""Streams whose operations follow from one another: votes, players of games, and who reads them.

Such a stream has no mix and no keys of its own: both follow from its model.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from brownout.base.problems import Problem
from brownout.load.workload_base import Settings, check

__all__ = ["PLAYS_PER_PLAYER", "Play", "Reader", "Vote"]

#: Plays of a player from first to last, on average, as the generator draws them.
PLAYS_PER_PLAYER = 44.0
#: Of each player beside the plays: the current state and the list of plays.
_RECORDS_BESIDE_PLAYS = 2

_Share = Annotated[float, Field(ge=0, le=1)]


class Vote(Settings):
    """Votes: a record of each voter, a counter of all votes, and one of each choice."""

    choices: Annotated[
        tuple[Annotated[str, Field(pattern=r"^[a-z0-9-]{1,32}$")], ...],
        Field(
            strict=False, min_length=1, max_length=100,
            description="what one can vote for; each name once",
        ),
    ] = ("y", "n")  # fmt: skip
    counters: Annotated[
        int, Field(ge=1, le=1000, description="number of counters that each count is split into")
    ] = 1
    through: Annotated[
        Literal["http", "driver"], Field(description="an HTTP endpoint of ours, or the driver")
    ] = "http"
    connections: Annotated[
        int, Field(ge=1, le=20_000, description="number of connections to the HTTP endpoint")
    ] = 100

    @property
    def mix(self) -> dict[str, float]:
        """The operations that votes are made of, in percent."""
        return {"vote": 100}

    @check
    def _choices(self) -> Iterator[Problem]:
        for choice, times in Counter(self.choices).items():
            if times > 1:
                yield Problem(
                    ("choices",), f"found {choice!r} {times} times, wanted each name once"
                )


class Play(Settings):
    """Players of games, each from the first session to the last one."""

    profile: Annotated[
        Literal["historic", "realtime"],
        Field(description="a player's records at the end, or step by step"),
    ] = "historic"
    players: Annotated[
        int, Field(ge=1, le=1_000_000, description="number of players in play at a time")
    ] = 640
    loaded_players: Annotated[
        int,
        Field(ge=0, le=1_000_000, description="number of whole players written before the load"),
    ] = 200
    first_player: Annotated[
        int, Field(ge=0, lt=2**30, description="the lowest id; a range for each generator")
    ] = 500
    increment_space: Annotated[
        Literal["wide", "hot"], Field(description="nearly as many totals as plays, or a few")
    ] = "wide"
    increment_keys: Annotated[
        int, Field(ge=1, le=244, description="number of totals of the hot space: so many counties")
    ] = 20
    doc_scale: Annotated[
        float,
        Field(gt=0, le=1, description="share of the snapshots' fields that are kept, of 1"),
    ] = 1.0

    @property
    def mix(self) -> dict[str, float]:
        """The operations of a player, in percent; docs/workloads.md says where they come from."""
        if self.profile == "realtime":
            return {"insert": 34, "update": 50, "increment": 16}
        return {"insert": 67, "increment": 33}


class Reader(Settings):
    """Reads every record of one player after the other."""

    of: Annotated[str, Field(description="name of the stream whose players are read")]
    ratio: Annotated[
        Annotated[float, Field(gt=0, lt=1)] | None,
        Field(description="reads as a share of that stream's offered writes and them, of 1"),
    ] = None
    users_per_s: Annotated[
        Annotated[float, Field(gt=0, le=1_000_000)] | None, Field(description="players a second")
    ] = None
    plays_per_user: Annotated[
        int, Field(ge=0, le=1000, description="number of each player's latest plays; 0: all")
    ] = 0
    hot_share: Annotated[
        _Share, Field(description="share of the players read that have just finished, of 1")
    ] = 0.5
    warm_share: Annotated[
        _Share, Field(description="share that finished within `warm_s`, of 1")
    ] = 0.3
    hot_players: Annotated[
        int, Field(ge=1, le=1_000_000, description="number of players that are hot")
    ] = 100
    warm_s: Annotated[
        float, Field(gt=0, le=86_400, description="seconds since their end: players are warm")
    ] = 300.0

    @property
    def mix(self) -> dict[str, float]:
        """Only reads, in percent."""
        return {"read": 100}

    def rate_beside(self, writes_per_s: float) -> float:
        """Return the reads a second that the settings come to; 0 where they do not say.

        `writes_per_s` is what the stream it follows offers, whatever becomes of it: an outage does
        not lower the reads. With `ratio` r the reads are r of all: r / (1 - r) of the writes.
        """
        if self.users_per_s is not None:
            plays = self.plays_per_user or PLAYS_PER_PLAYER
            return self.users_per_s * (plays + _RECORDS_BESIDE_PLAYS)
        return self.ratio / (1 - self.ratio) * writes_per_s if self.ratio is not None else 0.0

    @check
    def _shares(self) -> Iterator[Problem]:
        total = self.hot_share + self.warm_share
        if total > 1:
            yield Problem(
                ("warm_share",), f"hot_share and warm_share add up to {total:g}, wanted 1 or less"
            )
