"""What is asked of the API server for the Job of a load: a handful of calls, each in one line."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from kubernetes.client import ApiClient, BatchV1Api, CoreV1Api
from kubernetes.client.exceptions import ApiException

from brownout.kubernetes.access import Access, connect
from brownout.kubernetes.problems import MISSING, asking
from brownout.load.kubernetes.state import Pod

__all__ = ["JobApi"]


class JobApi:
    """The Jobs and pods of one namespace. Methods raise `HostError`.

    Each call has a client of its own, so that they may come from any thread.
    """

    def __init__(self, access: Access) -> None:
        self.access = access
        self._namespace = access.namespace

    @property
    def where(self) -> str:
        """The namespace, as messages name it."""
        return f"namespace {self._namespace}"

    def create(self, manifest: dict[str, Any]) -> dict[str, Any]:
        """Create a Job and return what the API server made of it."""
        with self._asking(f"creating the Job {manifest['metadata']['name']}") as client:
            return self._plain(client, BatchV1Api(client).create_namespaced_job(
                self._namespace, manifest))  # fmt: skip

    def jobs(self, selector: str) -> list[str]:
        """Return the names of the Jobs that a label selects."""
        with self._asking(f"listing the Jobs with {selector}") as client:
            found = BatchV1Api(client).list_namespaced_job(self._namespace, label_selector=selector)
            return [job.metadata.name for job in found.items]

    def job(self, name: str) -> dict[str, Any] | None:
        """Return a Job; None where there is none."""
        with self._asking(f"reading the Job {name}") as client, _missing():
            return self._plain(client, BatchV1Api(client).read_namespaced_job(
                name, self._namespace))  # fmt: skip
        return None

    def delete(self, name: str) -> None:
        """Delete a Job, and its pods in the background. Safe to repeat."""
        with self._asking(f"deleting the Job {name}") as client, _missing():
            BatchV1Api(client).delete_namespaced_job(
                name, self._namespace, propagation_policy="Background"
            )

    def pods(self, job: str) -> list[Pod]:
        """Return the pods of a Job by their index."""
        with self._asking(f"listing the pods of the Job {job}") as client:
            found = CoreV1Api(client).list_namespaced_pod(
                self._namespace, label_selector=f"batch.kubernetes.io/job-name={job}"
            )
            made = [Pod.of(self._plain(client, pod)) for pod in found.items]
        return sorted(made, key=lambda pod: pod.index)

    def pod(self, name: str) -> Pod | None:
        """Return a pod; None where there is none."""
        with self._asking(f"reading the pod {name}") as client, _missing():
            found = CoreV1Api(client).read_namespaced_pod(name, self._namespace)
            return Pod.of(self._plain(client, found))
        return None

    def complaints(self, job: str) -> Sequence[str]:
        """Return why pods of a Job could not be created, as a quota or a policy."""
        chosen = f"involvedObject.kind=Job,involvedObject.name={job},reason=FailedCreate"
        with self._asking(f"listing the events of the Job {job}") as client:
            found = CoreV1Api(client).list_namespaced_event(self._namespace, field_selector=chosen)
            return list(dict.fromkeys(" ".join(event.message.split()) for event in found.items))

    @contextlib.contextmanager
    def _asking(self, what: str) -> Iterator[ApiClient]:
        client = connect(self.access)
        with client, asking(client, f"{what} in {self.where}"):
            yield client

    @staticmethod
    def _plain(client: ApiClient, answer: Any) -> dict[str, Any]:
        """Return an answer as the API's own JSON."""
        plain: dict[str, Any] = client.sanitize_for_serialization(answer)
        return plain


@contextlib.contextmanager
def _missing() -> Iterator[None]:
    """Go on behind the block where what it asks for does not exist."""
    try:
        yield
    except ApiException as error:
        if error.status != MISSING:
            raise
