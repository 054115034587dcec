"""A pod as the place of a generator: attached to, settled in, collected from, left."""

import contextlib
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from brownout.base.errors import BrownoutError, GeneratorError, HostError
from brownout.base.wait import wait_until
from brownout.load.kubernetes import manifest
from brownout.load.kubernetes.attach import Attached
from brownout.load.kubernetes.files import PodFiles
from brownout.load.kubernetes.job import GeneratorJob
from brownout.load.kubernetes.spec import KubernetesLoad
from brownout.load.kubernetes.state import Pod, what_became_of
from brownout.load.place import TLS_FILES, Place, Process, as_generator_error

__all__ = ["PodPlace", "places_for"]

#: Until the API has what a pod's node knows of a process that has ended.
_NEWS_S: Final = 3.0
_LOOK_EVERY_S: Final = 0.2
#: For a pod whose connection broke to be reached again, so that its files are not lost.
_REACH_S: Final = 30.0

logger = logging.getLogger("chaostoolkit")


class PodPlace:
    """The pod with one index of a Job; `directory` is where this generator's files go.

    Methods raise `GeneratorError`.
    """

    def __init__(self, job: GeneratorJob, index: int, directory: Path) -> None:
        self._job, self._index, self._directory = job, index, directory
        self._pod: Pod | None = None
        self._process: Attached | None = None

    @property
    def where(self) -> str:
        """The pod, as far as it is known."""
        return str(self._pod or f"pod {self._index} of the Job {self._job.name}")

    def command(self) -> list[str]:
        """Have the pods, all of them, and return what this one runs already."""
        with as_generator_error("load"):
            self._pod = self._job.enter(self._index)
            self._job.record.note_pod(self._index, directory=str(self._directory.absolute()))
        return manifest.command(self._job.settings)

    def start(self, command: list[str], log: Path) -> Process:
        """Attach to the generator; when the connection breaks it keeps running for its linger."""
        with as_generator_error("load"):
            self._process = Attached(
                self._job.settings, self._there().name, log, lost=self._lost, end=self._files.end
            )
        return self._process

    def settle(self, spec: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the specification with the directory there, its TLS files put there."""
        connection = dict(spec["connection"])
        tls = dict(connection.get("tls") or {})
        named = {name: Path(tls[name]) for name in TLS_FILES if tls.get(name)}
        if named:
            with as_generator_error("load"):
                self._files.put({name: path.read_bytes() for name, path in named.items()})
            there = {name: f"{manifest.DEPOT}/tls/{name}" for name in named}
            connection["tls"] = {**tls, **there}
        return {**spec, "dir": f"{manifest.DEPOT}/run", "connection": connection}

    def collect(self, clock_uncertainty_s: float | None) -> None:
        """Fetch what the generator has written so far, checked by hash.

        Where the connection to it broke, it is ended first: it can no longer be controlled.
        What a pod that is lost took along is written down, and keeps nothing from being removed.
        """
        over = self._process is None or self._process.poll() is not None
        facts: dict[str, Any] = {"clock": {"t_uncertainty_s": clock_uncertainty_s}}
        with as_generator_error("load"):
            try:
                lost = self._end() if over else ""
                facts |= {"lost": lost} if lost else {"files": self._files.fetch(self._directory)}
            except BrownoutError as error:
                if not over:
                    raise
                facts["lost"] = str(error)
            if "lost" in facts:
                logger.warning(f"load: {facts['lost']}; what it wrote last is lost")
            self._job.record.note_pod(self._index, **facts)

    def leave(self) -> None:
        """Let the generator's process go; the last place to be left removes the Job."""
        if self._pod is None:
            return
        with contextlib.suppress(BrownoutError):  # a pod that is gone needs no release
            self._files.release()
        self._pod = None
        with as_generator_error("load"):
            self._job.leave()

    @property
    def _files(self) -> PodFiles:
        settings = self._job.settings
        return PodFiles(settings, self._there().name, settings.program)

    def _there(self) -> Pod:
        if self._pod is None:
            raise GeneratorError(f"{self.where} was left already")
        return self._pod

    def _end(self) -> str:
        """Have the generator complete its files; say what became of the pod if it is gone.

        An API server or a network that is away for a moment is waited for; raises `HostError`.
        """
        there = self._there()

        def end() -> str:
            pod = self._job.api.pod(there.name)
            if pod is None:
                return f"{there} is gone"
            if not pod.runs:
                return f"{there}: {what_became_of(pod)}"
            self._files.end()
            return ""

        return wait_until(end, _REACH_S, _LOOK_EVERY_S, so=lambda _: True, despite=HostError)

    def _lost(self, ended: bool) -> tuple[str, int | None]:
        """Say what became of the pod, and how its process ended; nothing where all is well.

        Where the process was not reported to have `ended`, the API may not know of it yet.
        """
        there = self._there()
        last = wait_until(
            lambda: self._job.api.pod(there.name),
            0.0 if ended else _NEWS_S,
            _LOOK_EVERY_S,
            so=lambda pod: pod is None or what_became_of(pod),
        )
        if last is None:
            return f"{there} is gone", None
        if became := what_became_of(last):
            return f"{there}: {became}", last.exit_code
        return "" if ended else f"{there} runs as far as the API server knows", None


def places_for(settings: KubernetesLoad, directory: Path, parts: Sequence[Path]) -> list[Place]:
    """Return a pod for each directory of `parts`; the Job is made when the first is needed.

    `directory` is that of the run: its name is the Job's label, and the record lies in it.
    """
    job = GeneratorJob(settings, directory)
    return [PodPlace(job, index, part) for index, part in enumerate(parts)]
