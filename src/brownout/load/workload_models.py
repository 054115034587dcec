"""Streams whose operations follow from one another: votes, players of games, and who reads them.

Such a stream has no mix and no keys of its own: both follow from its model.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeGuard

from pydantic import Field

from brownout.load.workload_base import Settings, is_number

__all__ = ["MODELS", "PLAYS_PER_PLAYER", "Play", "Reader", "Vote", "implied_mix", "reader_rate"]

#: What of a stream is a model of its own, in place of a mix.
MODELS = ("vote", "play", "reader")

#: Plays of a player from first to last, on average, as the generator draws them.
PLAYS_PER_PLAYER = 44.0
#: Of each player beside the plays: the current state and the list of plays.
_RECORDS_BESIDE_PLAYS = 2

#: The operations of each model, in percent; those of a player are `docs/workloads.md`'s.
_MIXES: dict[str, dict[str, float]] = {
    "vote": {"vote": 100},
    "historic": {"insert": 67, "increment": 33},
    "realtime": {"insert": 34, "update": 50, "increment": 16},
    "reader": {"read": 100},
}

_Share = Annotated[float, Field(ge=0, le=1)]


class Vote(Settings):
    """Votes: a record of each voter, a counter of all votes, and one of each choice."""

    choices: Annotated[
        tuple[Annotated[str, Field(pattern=r"^[a-z0-9-]{1,32}$")], ...],
        Field(strict=False, min_length=1, max_length=100, description="what one can vote for"),
    ] = ("y", "n")
    counters: Annotated[
        int, Field(ge=1, le=1000, description="that each count is split into, by voter")
    ] = 1
    through: Annotated[
        Literal["http", "driver"], Field(description="an HTTP endpoint of ours, or the driver")
    ] = "http"
    connections: Annotated[
        int, Field(ge=1, le=20_000, description="to the HTTP endpoint, at most")
    ] = 100


class Play(Settings):
    """Players of games, each from the first session to the last one."""

    profile: Annotated[
        Literal["historic", "realtime"],
        Field(description="a player's records at the end, or step by step"),
    ] = "historic"
    players: Annotated[int, Field(ge=1, le=1_000_000, description="in play at a time")] = 640
    loaded_players: Annotated[
        int, Field(ge=0, le=1_000_000, description="whole players, written before the load")
    ] = 200
    first_player: Annotated[
        int, Field(ge=0, lt=2**30, description="the lowest id; a range for each generator")
    ] = 500
    increment_space: Annotated[
        Literal["wide", "hot"], Field(description="nearly as many totals as plays, or a few")
    ] = "wide"
    increment_keys: Annotated[
        int, Field(ge=1, le=244, description="totals of the hot space: so many counties")
    ] = 20
    doc_scale: Annotated[
        float, Field(gt=0, le=1, description="share of the snapshots' fields that are kept")
    ] = 1.0


class Reader(Settings):
    """Reads every record of one player after the other."""

    of: Annotated[str, Field(description="the stream whose players are read")]
    ratio: Annotated[
        Annotated[float, Field(gt=0, lt=1)] | None,
        Field(description="reads as a share of that stream's offered writes and them"),
    ] = None
    users_per_s: Annotated[
        Annotated[float, Field(gt=0, le=1_000_000)] | None, Field(description="players a second")
    ] = None
    plays_per_user: Annotated[
        int, Field(ge=0, le=1000, description="of each player's plays, the latest; 0: all")
    ] = 0
    hot_share: Annotated[_Share, Field(description="of the players read: just finished")] = 0.5
    warm_share: Annotated[_Share, Field(description="finished within `warm_s`")] = 0.3
    hot_players: Annotated[int, Field(ge=1, le=1_000_000, description="that are hot")] = 100
    warm_s: Annotated[float, Field(gt=0, le=86_400)] = 300.0


def implied_mix(stream: Mapping[str, Any]) -> dict[str, float] | None:
    """Return the mix that follows from a stream's model; None for a stream without one."""
    for model in MODELS:
        if model in stream:
            settings = stream[model]
            profile = settings.get("profile") if isinstance(settings, Mapping) else None
            known = "realtime" if profile == "realtime" else "historic"
            return dict(_MIXES[known if model == "play" else model])
    return None


def reader_rate(reader: Mapping[str, Any], writes_per_s: Any) -> float | None:
    """Return the reads a second that a reader's settings come to; None where they do not say.

    `writes_per_s` is what the stream it follows offers, whatever becomes of it: an outage does
    not lower the reads. With `ratio` r the reads are r of all: r / (1 - r) of the writes.
    """
    users, ratio = reader.get("users_per_s"), reader.get("ratio")
    if _positive(users):
        plays = reader.get("plays_per_user") or PLAYS_PER_PLAYER
        return float(users) * (plays + _RECORDS_BESIDE_PLAYS) if _positive(plays) else None
    if _positive(ratio) and ratio < 1 and _positive(writes_per_s):
        return float(ratio / (1 - ratio) * writes_per_s)
    return None


def _positive(value: Any) -> TypeGuard[float]:
    return is_number(value) and value > 0
