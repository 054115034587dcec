"""A load by itself: no fault, no verdict; for trying a workload and for headroom."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brownout.base.errors import GeneratorError
from brownout.base.wait import wait_until
from brownout.load.generator import Progress
from brownout.load.group import AnyGenerator, driven_from
from brownout.load.place import Here, Place
from brownout.load.shares import check_shares
from brownout.load.workload import Workload

__all__ = ["LoadResult", "run_load"]


@dataclass(frozen=True, slots=True)
class LoadResult:
    """What a load came to.

    `stopped` is what `generator.json` says; `verified` is `{"keys", "read", "unread"}`, or None
    if no stream is verified; `interrupted` tells that a person ended the load early.
    """

    stopped: Mapping[str, Any]
    verified: Mapping[str, Any] | None
    interrupted: bool


def run_load(
    workload: Workload,
    target: Mapping[str, Any],
    directory: Path,
    seconds: float,
    *,
    seed: int,
    on_live: Callable[[Mapping[str, Any]], None] | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    clean: bool = False,
    read_back: bool = True,
    places: Sequence[Place] = (Here(),),
    on_start: Callable[[Callable[[], float | None]], None] | None = None,
    enough: Callable[[], bool] = lambda: False,
    shown: Callable[[Callable[[], str]], AbstractContextManager[None]] = lambda _: nullcontext(),
) -> LoadResult:
    """Put `workload` on a database for `seconds` and read the ledger back; files in `directory`.

    `target` is an adapter's `load_spec()`: driver, connection, options. `progress` gets what is
    being done (`loading`, `verifying`), how much is done, how much there is. `on_start` gets the
    load's clock once it runs; `enough` ends it before its time. Without `read_back` the ledger
    is not verified. At each of `places` a generator runs, by default one here. `shown` gets what
    returns the load's metrics, and is open while it runs. A Ctrl-C ends the load early and still
    stops, flushes and verifies. Raises `GeneratorError`, and `ConfigurationError` where so many
    generators cannot share the workload out.
    """

    def step(what: str) -> Progress | None:
        return None if progress is None else lambda done, total: progress(what, done, total)

    check_shares(workload, len(places))
    spec = workload.to_spec(directory=directory, seed=seed, writer=directory.name, **target)
    with driven_from(places, directory, on_live) as generator, shown(generator.metrics):
        generator.open(spec)
        generator.load(step("loading"))
        generator.start()
        if on_start is not None:
            on_start(generator.now)
        interrupted = _wait(generator, seconds, enough)
        stopped = generator.stop()
        verified = None
        if read_back and any(stream.verified for stream in workload.streams):
            verified = generator.verify(step("verifying"))
        if clean:
            generator.clean()
    return LoadResult(stopped, verified, interrupted)


def _wait(generator: AnyGenerator, seconds: float, enough: Callable[[], bool]) -> bool:
    """Wait until the clock has reached `seconds` or it is `enough`; say whether a person cut in."""

    def over() -> bool:
        if (generator.now() or 0.0) >= seconds or enough():
            return True
        if not generator.alive:
            raise GeneratorError(f"under the load: {generator.obituary()}")
        return False

    try:
        wait_until(over, every_s=0.05)
    except KeyboardInterrupt:
        return True
    return False
