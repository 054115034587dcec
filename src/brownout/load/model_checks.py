"""What the model of a stream lacks, or contradicts: votes, players, and who reads them."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard

from brownout.base.problems import Problem
from brownout.load.workload_base import is_number
from brownout.load.workload_models import MODELS, Play, Reader, implied_mix

__all__ = ["is_named", "model_problems"]

_DEFAULT_LOADED: int = Play.model_fields["loaded_players"].default
_DEFAULT_HOT: int = Reader.model_fields["hot_players"].default
_DEFAULT_SHARES = {name: Reader.model_fields[name].default for name in ("hot_share", "warm_share")}


def model_problems(streams: list[Any]) -> Iterator[Problem]:
    """Yield what is wrong with the models of a workload's streams, and between them."""
    known = {s["name"]: s for s in streams if is_named(s)}
    for index, stream in enumerate(streams):
        if isinstance(stream, Mapping):
            for problem in (*_alone(stream), *_reader(stream, known)):
                yield Problem(("streams", index, *problem.place), problem.text)
    through = [_through_http(stream) for stream in streams]
    if sum(through) > 1:
        place = ("streams", len(through) - 1 - through[::-1].index(True), "vote", "through")
        yield Problem(place, "found http again, wanted one stream of votes through http")


def is_named(stream: Any) -> TypeGuard[Mapping[str, Any]]:
    """Say whether a raw stream is a mapping with a name that others can call it by."""
    return isinstance(stream, Mapping) and isinstance(stream.get("name"), str)


def _alone(stream: Mapping[str, Any]) -> Iterator[Problem]:
    """A model stands alone: without a mix, keys, a data set, or a second model."""
    models = [model for model in MODELS if model in stream]
    mix = stream.get("mix")
    if not models:
        if "mix" not in stream:
            yield Problem(("mix",), f"missing, wanted a mix, or one of {', '.join(MODELS)}")
        if isinstance(mix, Mapping) and "vote" in mix:
            yield Problem(("mix", "vote"), "found without vote: {…}, which says what is voted for")
        return
    if len(models) > 1:
        yield Problem((models[1],), f"found beside {models[0]}, wanted one of them")
    if mix is not None and mix != implied_mix(stream):
        yield Problem(("mix",), f"found beside {models[0]}, from which the operations follow")
    if stream.get("set"):
        yield Problem(("set",), f"found beside {models[0]}, which has records of its own")
    if stream.get("retries", "none") == "once" and "vote" in models:
        yield Problem(("retries",), "found once; a vote is never done again: wanted none")


def _reader(stream: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[Problem]:
    reader = stream.get("reader")
    if not isinstance(reader, Mapping):
        return
    of = reader.get("of")
    writer = known.get(of) if isinstance(of, str) else None
    play = writer.get("play") if isinstance(writer, Mapping) else None
    if "of" in reader and not isinstance(play, Mapping):
        players = [name for name, s in known.items() if "play" in s]
        wanted = f"one of {', '.join(players)}" if players else "a stream with play: {…}"
        yield Problem(("reader", "of"), f"found {of!r}, wanted {wanted}")
    yield from _follows(stream, reader, writer)
    yield from _shares(reader)
    if isinstance(play, Mapping):
        yield from _enough_players(reader, play)


def _follows(
    stream: Mapping[str, Any], reader: Mapping[str, Any], writer: Any
) -> Iterator[Problem]:
    """The pace of a reader is its own, or follows from one of two settings."""
    stated = [name for name in ("ratio", "users_per_s") if reader.get(name) is not None]
    own = "rate" in stream or "concurrency" in stream
    if len(stated) > 1 or (not stated and not own):
        found = "both" if stated else "neither"
        yield Problem(("reader",), f"found {found} of ratio and users_per_s, wanted one of them")
    elif "ratio" in stated and not own and isinstance(writer, Mapping) and "rate" not in writer:
        text = "needs a stream with a rate: what a closed loop offers, nobody knows before"
        yield Problem(("reader", "ratio"), text)


def _shares(reader: Mapping[str, Any]) -> Iterator[Problem]:
    shares = [reader.get(name, default) for name, default in _DEFAULT_SHARES.items()]
    if all(is_number(share) for share in shares) and sum(shares) > 1:
        yield Problem(
            ("reader", "warm_share"),
            f"hot_share and warm_share add up to {sum(shares):g}, wanted 1 or less",
        )


def _enough_players(reader: Mapping[str, Any], play: Mapping[str, Any]) -> Iterator[Problem]:
    """A reader has players to read from its first moment on, and more than the hot ones."""
    hot, loaded = (
        reader.get("hot_players", _DEFAULT_HOT),
        play.get("loaded_players", _DEFAULT_LOADED),
    )
    if is_number(hot) and is_number(loaded) and loaded < hot:
        text = f"found {hot:,} of the {loaded:,} loaded_players, wanted no more than those"
        yield Problem(("reader", "hot_players"), text)


def _through_http(stream: Any) -> bool:
    vote = stream.get("vote") if isinstance(stream, Mapping) else None
    return isinstance(vote, Mapping) and vote.get("through", "http") == "http"
