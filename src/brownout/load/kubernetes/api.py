"""What is asked of the API server for the Job of a load: a handful of calls, each in one line."""

import contextlib
from collections.abc import Iterator, Sequence

from brownout.kubernetes.access import Access, connect
from brownout.kubernetes.objects import Object, Objects, in_namespace
from brownout.load.kubernetes.state import Pod

__all__ = ["JobApi"]


class JobApi:
    """The Jobs and pods of one namespace. Methods raise `HostError`.

    Each call has a client of its own, so that they may come from any thread.
    """

    def __init__(self, access: Access) -> None:
        self.access = access

    @property
    def where(self) -> str:
        """The namespace, as messages name it."""
        return f"namespace {self.access.namespace}"

    def create(self, manifest: Object) -> Object:
        """Create a Job and return what the API server made of it."""
        with self._objects() as objects:
            return objects.create(self._path("jobs"), manifest)

    def jobs(self, selector: str) -> list[str]:
        """Return the names of the Jobs that a label selects."""
        with self._objects() as objects:
            objects_found = objects.listed(self._path("jobs"), labelSelector=selector)
        return [job["metadata"]["name"] for job in objects_found]

    def job(self, name: str) -> Object | None:
        """Return a Job; None where there is none."""
        with self._objects() as objects:
            return objects.find(self._path("jobs", name))

    def delete(self, name: str) -> None:
        """Delete a Job, and its pods in the background. Safe to repeat."""
        job = self.job(name)
        if job is not None:
            with self._objects() as objects:
                objects.delete(self._path("jobs", name), job["metadata"]["uid"], owned=True)

    def pods(self, job: str) -> list[Pod]:
        """Return the pods of a Job by their index."""
        chosen = f"batch.kubernetes.io/job-name={job}"
        with self._objects() as objects:
            answers = objects.listed(self._path("pods"), labelSelector=chosen)
        return sorted((Pod.of(raw) for raw in answers), key=lambda pod: pod.index)

    def pod(self, name: str) -> Pod | None:
        """Return a pod; None where there is none."""
        with self._objects() as objects:
            answer = objects.find(self._path("pods", name))
        return None if answer is None else Pod.of(answer)

    def complaints(self, job: str) -> Sequence[str]:
        """Return why pods of a Job could not be created, as a quota or a policy."""
        chosen = f"involvedObject.kind=Job,involvedObject.name={job},reason=FailedCreate"
        with self._objects() as objects:
            events = objects.listed(self._path("events"), fieldSelector=chosen)
        return list(dict.fromkeys(" ".join(str(event["message"]).split()) for event in events))

    def _path(self, kind: str, name: str = "") -> str:
        return in_namespace(self.access.namespace, kind, name)

    @contextlib.contextmanager
    def _objects(self) -> Iterator[Objects]:
        with connect(self.access) as client:
            yield Objects(client)
