"""The Job of one load: made with its first generator, removed with its last.

What is where is written to `load-pods.json` of the run directory before anything is created, so
that a run that died can be collected later:

    {"namespace": "load", "job": "brownout-load-3f9c21aa", "run": "20261121T2210…",
     "program": "brownout-loadgen",
     "pods": {"0": {"pod": "brownout-load-3f9c21aa-0-x7k2p", "node": "w1",
                    "directory": "/home/ann/runs/20261121T2210…/parts/0",
                    "clock": {"t_uncertainty_s": 0.0006}, "files": {"series.csv": "c81e…"}}},
     "succeeded": 3, "removed": true}

In place of `files` a pod has `lost`, a sentence, where they could not be fetched any more.
"""

import contextlib
import json
import logging
import secrets
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from brownout.base.errors import BrownoutError, GeneratorError
from brownout.base.files import private_directory, replace_file
from brownout.base.wait import wait_until
from brownout.load.kubernetes import manifest
from brownout.load.kubernetes.api import JobApi
from brownout.load.kubernetes.spec import KubernetesLoad
from brownout.load.kubernetes.state import Pod, describe_wait, final_problem

__all__ = ["RECORD", "GeneratorJob", "Record"]

RECORD = "load-pods.json"
_LOOK_EVERY_S: Final = 0.5
#: For the pods of a load that is over, until their Job is removed.
_COMPLETE_S: Final = 10.0

logger = logging.getLogger("chaostoolkit")


class Record:
    """`load-pods.json`; safe to use from several threads."""

    def __init__(self, path: Path, facts: Mapping[str, Any]) -> None:
        self._path, self._lock = path, threading.Lock()
        self.facts: dict[str, Any] = dict(facts)

    def note(self, **facts: Any) -> None:
        """Write down facts of the whole Job."""
        with self._lock:
            self.facts |= facts
            self._write()

    def note_pod(self, index: int, **facts: Any) -> None:
        """Write down facts of one pod."""
        with self._lock:
            self.facts.setdefault("pods", {}).setdefault(str(index), {}).update(facts)
            self._write()

    def _write(self) -> None:
        private_directory(self._path.parent)
        replace_file(self._path, json.dumps(self.facts, indent=2) + "\n")


class GeneratorJob:
    """The pods of one run. Methods raise `HostError` or `GeneratorError`."""

    def __init__(self, settings: KubernetesLoad, directory: Path) -> None:
        self.settings = settings
        self.api = JobApi(settings)
        self.name = f"brownout-load-{secrets.token_hex(4)}"
        self.run = directory.name
        self.record = Record(directory / RECORD, {})
        self._lock = threading.Lock()
        self._pods: dict[int, Pod] = {}
        self._users = 0
        self._removed = False

    def enter(self, index: int) -> Pod:
        """Return the pod with this index; the first who comes has all of them made."""
        with self._lock:
            if self._removed:
                raise GeneratorError(f"the Job {self.name} of the load was removed already")
            if not self._pods:
                self._create()
            self._users += 1
            return self._pods[index]

    def leave(self) -> None:
        """Go; the last one removes the Job and its pods, once they have completed."""
        with self._lock:
            self._users -= 1
            if not self._users:
                self.record.note(succeeded=self._await_complete())
                self._remove()

    def _await_complete(self) -> int:
        """Wait for the end of the Job, but not for long; return how many pods ended with 0."""

        def ended(status: Mapping[str, Any]) -> set[str]:
            conditions = status.get("conditions") or ()
            return {each["type"] for each in conditions if each["status"] == "True"}

        status = wait_until(
            lambda: (self.api.job(self.name) or {}).get("status", {}),
            _COMPLETE_S,
            _LOOK_EVERY_S,
            so=lambda job: ended(job) & {"Complete", "Failed"},
        )
        return int(status.get("succeeded") or 0)

    def _create(self) -> None:
        self.record.note(
            namespace=self.settings.namespace,
            job=self.name,
            run=self.run,
            program=self.settings.program,
        )
        try:
            _check_kept(self.api.create(manifest.job(self.settings, self.name, self.run)))
            pods = self._await_running()
        except BaseException:
            with contextlib.suppress(BrownoutError):  # the first error is the one that matters
                self._remove()
            raise
        self._pods = {pod.index: pod for pod in pods}
        for pod in pods:
            self.record.note_pod(pod.index, pod=pod.name, node=pod.node)

    def _remove(self) -> None:
        self._removed = True
        self.api.delete(self.name)
        self.record.note(removed=True)

    def _await_running(self) -> list[Pod]:
        """Wait until every pod runs, and say what it waits for whenever that changes."""
        limit, waiting = self.settings.start_timeout_s, ""

        def all_run(pods: list[Pod]) -> bool:
            nonlocal waiting
            if sum(pod.runs for pod in pods) == self.settings.hosts:
                return True
            self._give_up_if_hopeless(pods)
            waiting_before, waiting = waiting, describe_wait(pods, self.settings.hosts)
            if waiting != waiting_before:
                logger.info(f"load: waiting for the pods of {self.name}: {waiting}")
            return False

        pods = wait_until(lambda: self.api.pods(self.name), limit, _LOOK_EVERY_S, so=all_run)
        if not all_run(pods):
            raise GeneratorError(
                f"the pods of the load did not all run within {limit:g} s: {waiting}",
                "set load.start_timeout_s, or make room for them",
            )
        return pods

    def _give_up_if_hopeless(self, pods: list[Pod]) -> None:
        problem = final_problem(pods)
        if not problem and len(pods) < self.settings.hosts:
            problem = "; ".join(self.api.complaints(self.name))
        if problem:
            raise GeneratorError(f"the pods of the load cannot run in {self.api.where}: {problem}")


def _check_kept(kept: Mapping[str, Any]) -> None:
    """Raise unless the API server understood that a lost pod must not be replaced."""
    if kept["spec"].get("backoffLimitPerIndex") != 0:
        raise GeneratorError(
            "the API server does not know `backoffLimitPerIndex`, so it would replace a lost pod "
            "of the load with another one",
            "use Kubernetes 1.29 or newer",
        )
