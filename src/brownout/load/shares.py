"""Whether several generators can share a workload out, so that all together do what one would.

The generator refuses the same; here it is said before anything is started.
"""

import math
from collections.abc import Iterator

from brownout.base.errors import ConfigurationError
from brownout.load.workload import Workload
from brownout.load.workload_fields import HotSet, Stream, Zipf

__all__ = ["check_shares"]


def check_shares(workload: Workload, generators: int) -> None:
    """Raise `ConfigurationError` with all that cannot be dealt out to so many generators."""
    if generators > 1:
        problems = [f"workload: {problem}" for problem in _problems(workload, generators)]
        if problems:
            raise ConfigurationError(
                problems, "see docs/many-generators.md, or use fewer load hosts"
            )


def _problems(workload: Workload, of: int) -> Iterator[str]:
    counts = {"lanes.cap": workload.lanes.cap, "lanes.global_cap": workload.lanes.global_cap}
    for index, stream in enumerate(workload.streams):
        at = f"streams[{index}]"
        counts[f"{at}.concurrency"] = stream.concurrency
        counts[f"{at}.ledger_keys"] = stream.ledger_keys
        if stream.play is not None:
            counts[f"{at}.play.players"] = stream.play.players
            counts[f"{at}.play.loaded_players"] = stream.play.loaded_players
        if stream.reader is not None:
            counts[f"{at}.reader.hot_players"] = stream.reader.hot_players
    for place, count in counts.items():
        if 0 < count < of:
            yield f"{place}: found {count}, wanted one at least for each of {of} generators"
    for index, stream in enumerate(workload.streams):
        if stream.verified and stream.ledger_keys:
            yield from _owners(stream, f"streams[{index}].keys", of)


def _owners(stream: Stream, at: str, of: int) -> Iterator[str]:
    """A verified key has one writer, and each writer an equal share of the operations."""
    if isinstance(stream.keys, Zipf):
        yield (
            f"{at}: found zipf for verified keys, the hottest of which has one writer; "
            f"wanted uniform, gaussian or hot-set for {of} generators"
        )
    if isinstance(stream.keys, HotSet):
        hot = min(max(math.floor(stream.keys.hot_keys * stream.ledger_keys + 0.5), 1),
                  stream.ledger_keys)  # fmt: skip
        if hot % of:
            yield f"{at}.hot_keys: found {hot} hot keys, wanted a multiple of {of}, the generators"
