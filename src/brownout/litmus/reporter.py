"""Write what a run comes to where Litmus looks for it, whatever the API server does meanwhile."""

import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from brownout.base.errors import BrownoutError, ClusterError
from brownout.faults.litmus.api import Litmus
from brownout.faults.litmus.surroundings import Surroundings
from brownout.kubernetes.problems import Away, Conflict
from brownout.kubernetes.retries import persist
from brownout.litmus.chaosresult import chaosresult, is_of_our_job, says_so
from brownout.litmus.status import Told

__all__ = ["Reporter"]

T = TypeVar("T")


class Reporter:
    """Tells Litmus of one run. Waits up to `patience_s` for an API server that is away."""

    def __init__(
        self, litmus: Litmus, here: Surroundings, patience_s: float, say: Callable[[str], None]
    ) -> None:
        self._litmus, self._here, self._say = litmus, here, say
        self._patience_s = patience_s
        self.engine = self._existing(lambda: litmus.engine(here.engine))
        self._labels = self._persist(lambda: litmus.labels_of_pod(here.pod)) if here.pod else {}
        self._run = f"{here.pod or here.experiment}@{time.time():.3f}"

    def died_before(self) -> bool:
        """Say whether an earlier pod of this job began the experiment, and died in it."""
        result = self._persist(lambda: self._litmus.result(self._here.result))
        return is_of_our_job(result, self._labels)

    def tell(self, report: Told) -> None:
        """Write it to the ChaosResult, and the events that litmus-go writes.

        Raises `HostError` where it could not be written in time.
        """
        written = self._persist(lambda: self._write(report))
        message = f"experiment: {self._here.experiment}, Result: {report.verdict}"
        self._note(written, report.verdict, message)
        if report.percentage is not None:
            self._note(self.engine, "Summary", message)

    def _write(self, report: Told) -> Mapping[str, Any]:
        """Write it once, over what is there now; what stands there already is not counted twice."""
        before = self._litmus.result(self._here.result)
        if before is not None and says_so(before, report, self._run):
            return before
        result = chaosresult(self._here, self.engine, self._labels, report, self._run, before)
        return self._litmus.write_result(result)

    def _note(self, about: Mapping[str, Any], reason: str, message: str) -> None:
        """An event that cannot be written is only logged: the result has it all."""
        try:
            self._litmus.note(about, reason, message, self._here.pod)
        except BrownoutError as error:
            self._say(str(error))

    def _existing(self, ask: Callable[[], Mapping[str, Any] | None]) -> Mapping[str, Any]:
        engine = self._persist(ask)
        if engine is None:
            raise ClusterError(
                f"namespace `{self._here.namespace}`: there is no ChaosEngine "
                f"`{self._here.engine}`, which CHAOSENGINE names",
                "was it removed meanwhile, or are Litmus's CRDs not installed?",
            )
        return engine

    def _persist(self, ask: Callable[[], T]) -> T:
        """Do it again while the server is away or others write; loudly, and not for ever."""
        return persist(ask, self._patience_s, (Away, Conflict), self._say)
