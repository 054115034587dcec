"""The load of a run: started once, ended once; its clock runs until the run is judged."""

import logging
from collections.abc import Callable
from dataclasses import asdict

from brownout.base.errors import BrownoutError, ConfigurationError
from brownout.databases.adapter import Adapter
from brownout.inventory.model import Cluster
from brownout.load.group import AnyGenerator, driven_from
from brownout.load.left import left_by
from brownout.load.where import places_for
from brownout.observe.labels import of_the_load
from brownout.run.directory import RunDirectory
from brownout.run.events import EventLog
from brownout.run.metadata import read_json
from brownout.run.series import Series
from brownout.session import wind_down
from brownout.session.plan import Plan
from brownout.session.status import Status

__all__ = ["RunningLoad"]

logger = logging.getLogger("chaostoolkit")


class RunningLoad:
    """What drives the plan's workload at the cluster, and the clock that all of a run shares."""

    def __init__(self, plan: Plan, status: Status) -> None:
        self._plan, self._status = plan, status
        self._generator: AnyGenerator | None = None
        self._wrote = self._ended = False

    @property
    def began(self) -> bool:
        """Whether the generator was ever started."""
        return self._generator is not None

    @property
    def generator(self) -> AnyGenerator:
        """The generator; raises `ConfigurationError` before there is one."""
        if self._generator is None:
            raise ConfigurationError("the load does not run")
        return self._generator

    def start(self, cluster: Cluster, adapter: Adapter, directory: RunDirectory) -> None:
        """Start the generator where the cluster's inventory wants it, load the data, and go."""
        places = places_for(cluster, directory.path)
        self._generator = driven_from(places, directory.path, self._status.feed)
        spec = self._plan.workload.to_spec(
            directory=directory.path,
            seed=self._plan.options.seed,
            writer=directory.path.name,
            labels=of_the_load(read_json(directory.run_json)),
            **adapter.load_spec(),
        )
        self._generator.open(spec)
        self._generator.load(self._loading)
        self._wrote = True
        self._generator.start()

    def end(
        self,
        adapter: Adapter,
        log: EventLog,
        *,
        stays: bool,
        limit_s: float | None = None,
        told_to_end: Callable[[], bool] = lambda: False,
    ) -> None:
        """Stop the load, once, and read the ledger back, within `limit_s` and until told to end.

        Where the cluster `stays`, say what is left in it.
        """
        if self._ended:
            return
        self._ended = True
        try:
            self._status.phase = "stopping the load"
            log.point("phase", "load_stopped")
            self.generator.stop()
            problem = wind_down.read_ledger_back(
                self.generator, adapter, log, self._status.say, limit_s, told_to_end
            )
            if problem:
                logger.warning(problem)
        except BrownoutError as error:
            logger.error(str(error))
        finally:
            self.generator.close()
            if stays and self._wrote:
                self._say_what_is_left(log)

    def metrics(self) -> str:
        """Return the generator's metrics as text; empty before there are any."""
        return self._generator.metrics() if self._generator is not None else ""

    def series(self) -> Series:
        """What the load did so far."""
        return self.generator.live.snapshot()

    def to_t(self, monotonic: float | None) -> float | None:
        """Return a moment of `time.monotonic()` in the run's seconds; None before there are any."""
        if monotonic is None or self._generator is None:
            return None
        return self._generator.to_t(monotonic)

    @property
    def clock_jump_s(self) -> float:
        """By how many seconds the generator's clock jumped against ours; 0 where it did not."""
        return self._generator.clock_jump_s if self._generator is not None else 0.0

    def now(self) -> float | None:
        """Return this moment in the run's seconds; None before there are any."""
        return self._generator.now() if self._generator is not None else None

    def _loading(self, done: int, total: int) -> None:
        self._wrote = True
        self._status.progress("loading", done, total)

    def _say_what_is_left(self, log: EventLog) -> None:
        """Tell what the load leaves in a database that is there after the run."""
        left = left_by(self._plan.workload, self._plan.options.cluster)
        log.point("note", "left", **asdict(left))
        logger.info(str(left))
