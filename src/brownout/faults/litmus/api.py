"""The API server, asked about Litmus's three kinds in one namespace.

Whoever asks is told apart by what may help: nothing there (None), somebody else wrote meanwhile
(`Conflict`), not there at this moment (`Away`), or refused (`ClusterError`, in the server's words).
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from kubernetes import client
from kubernetes.client.exceptions import ApiException
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_delay,
    wait_exponential,
)
from urllib3.exceptions import HTTPError

from brownout.base.errors import ClusterError
from brownout.kubernetes.problems import said

__all__ = ["Away", "Conflict", "Litmus", "persist"]

Document = dict[str, Any]
T = TypeVar("T")

GROUP, VERSION = "litmuschaos.io", "v1alpha1"
ENGINES, RESULTS = "chaosengines", "chaosresults"
_MOST_WAIT_S = 15.0
#: Answers of a server, or of what stands before it, that is not ready at this moment.
_NOT_NOW = frozenset({0, 408, 429, 500, 502, 503, 504})
_HINTS = {
    403: "infra/litmus/rbac.yaml is what it needs (docs/litmus.md)",
    422: "the words of the API server say which field it does not take",
}


class Away(ClusterError):
    """The API server does not answer at this moment; asking again may help."""


class Conflict(ClusterError):
    """Somebody else wrote the object meanwhile; read it again."""


def persist(
    ask: Callable[[], T],
    patience_s: float,
    kinds: tuple[type[ClusterError], ...],
    say: Callable[[str], None] = lambda _: None,
) -> T:
    """Ask again while that raises one of `kinds`, saying why, and not for ever."""

    def say_why(state: RetryCallState) -> None:
        if state.outcome is not None:
            say(f"{state.outcome.exception()}; tried again for {patience_s:.0f} s")

    return Retrying(
        retry=retry_if_exception_type(kinds),
        stop=stop_after_delay(patience_s),
        wait=wait_exponential(multiplier=0.25, max=_MOST_WAIT_S),
        before_sleep=say_why,
        reraise=True,
    )(ask)


class Litmus:
    """The Litmus objects of one namespace.

    What may be asked twice is, for `patience_s` seconds, where the server is away.
    """

    def __init__(self, api: Any, namespace: str, patience_s: float = 0.0) -> None:
        self.namespace, self._api, self._patience_s = namespace, api, patience_s
        self._objects, self._core = client.CustomObjectsApi(api), client.CoreV1Api(api)

    @property
    def server(self) -> str:
        """The URL of the API server."""
        return str(self._api.configuration.host)

    def close(self) -> None:
        """Give back its connections."""
        self._api.close()

    def engine(self, name: str) -> Document | None:
        """Return a ChaosEngine; None where there is none of that name."""
        return self._get(ENGINES, name)

    def result(self, name: str) -> Document | None:
        """Return a ChaosResult; None where there is none of that name."""
        return self._get(RESULTS, name)

    def create_engine(self, engine: Mapping[str, Any]) -> Document:
        """Make a ChaosEngine; `Conflict` where one of its name is there."""
        what = f"ChaosEngine `{engine['metadata']['name']}`"
        made: Document = self._ask(f"{what}: cannot be made", lambda: self._create(ENGINES, engine))
        return made

    def set_state(self, name: str, state: str) -> Document | None:
        """Give a ChaosEngine another `engineState`; None where there is none of that name."""
        change = {"spec": {"engineState": state}}
        changed: Document | None = self._maybe(
            f"ChaosEngine `{name}`: cannot be changed to `{state}`",
            lambda: self._objects.patch_namespaced_custom_object(
                GROUP, VERSION, self.namespace, ENGINES, name, change
            ),
        )
        return changed

    def delete_engine(self, name: str) -> None:
        """Remove a ChaosEngine; its operator removes what it started. Safe where it is gone."""
        self._maybe(
            f"ChaosEngine `{name}`: cannot be removed",
            lambda: self._objects.delete_namespaced_custom_object(
                GROUP, VERSION, self.namespace, ENGINES, name
            ),
        )

    def write_result(self, result: Mapping[str, Any]) -> Document:
        """Make a ChaosResult, or write over the version of it that `result` was made from."""
        name = result["metadata"]["name"]
        what = f"ChaosResult `{name}`: cannot be written"
        if "resourceVersion" in result["metadata"]:
            written: Document = self._ask(
                what,
                lambda: self._objects.replace_namespaced_custom_object(
                    GROUP, VERSION, self.namespace, RESULTS, name, result
                ),
            )
        else:
            written = self._ask(what, lambda: self._create(RESULTS, result))
        if written.get("status") != result["status"]:
            raise ClusterError(
                f"ChaosResult `{name}`: the API server did not keep its status",
                "Litmus's own CRD has no status subresource: is this one another's?",
            )
        return written

    def labels_of_pod(self, name: str) -> dict[str, str]:
        """Return the labels of a pod; none of one that is gone."""
        pod = self._maybe(
            f"pod `{name}`: cannot be read",
            lambda: self._core.read_namespaced_pod(name, self.namespace),
        )
        return dict((pod.metadata.labels if pod else None) or {})

    def injected(self, engine_uid: str) -> bool:
        """Say whether an experiment of this engine noted that it injects, as litmus-go does."""
        chosen = f"involvedObject.uid={engine_uid},reason=ChaosInject"
        found = self._again(
            "events: cannot be read",
            lambda: self._core.list_namespaced_event(self.namespace, field_selector=chosen),
        )
        return bool(found.items)

    def note(self, about: Mapping[str, Any], reason: str, message: str, pod: str) -> None:
        """Write an event of an object, as litmus-go does: a warning where it is no good news."""
        now = datetime.now(UTC)
        meta = about["metadata"]
        event = client.CoreV1Event(
            metadata=client.V1ObjectMeta(generate_name="brownout-", namespace=self.namespace),
            involved_object=client.V1ObjectReference(
                api_version=about["apiVersion"], kind=about["kind"], name=meta["name"],
                namespace=self.namespace, uid=meta.get("uid"),
            ),
            source=client.V1EventSource(component=pod or "brownout"),
            reason=reason, message=message, count=1, first_timestamp=now, last_timestamp=now,
            type="Normal" if reason in ("Awaited", "Pass") else "Warning",
        )  # fmt: skip
        self._ask(
            f"event {reason}: cannot be written",
            lambda: self._core.create_namespaced_event(self.namespace, event),
        )

    def _create(self, plural: str, document: Mapping[str, Any]) -> Any:
        return self._objects.create_namespaced_custom_object(
            GROUP, VERSION, self.namespace, plural, document
        )

    def _get(self, plural: str, name: str) -> Document | None:
        found: Document | None = self._maybe(
            f"{plural} `{name}`: cannot be read",
            lambda: self._objects.get_namespaced_custom_object(
                GROUP, VERSION, self.namespace, plural, name
            ),
        )
        return found

    def _maybe(self, what: str, ask: Callable[[], Any]) -> Any:
        """Ask, again if need be; None where nothing of that name is there."""
        try:
            return self._again(what, ask)
        except _Gone:
            return None

    def _again(self, what: str, ask: Callable[[], Any]) -> Any:
        return persist(lambda: self._ask(what, ask), self._patience_s, (Away,))

    def _ask(self, what: str, ask: Callable[[], Any]) -> Any:
        where = f"namespace `{self.namespace}`: {what}"
        try:
            return ask()
        except ApiException as error:
            if error.status == 404:
                raise _Gone(f"{where}: {said(error)}") from error
            if error.status == 409:
                raise Conflict(f"{where}: {said(error)}") from error
            if error.status in _NOT_NOW:
                raise Away(f"{where}: {said(error)}") from error
            raise ClusterError(f"{where}: {said(error)}", _HINTS.get(error.status, "")) from error
        except (HTTPError, OSError) as error:
            raise Away(f"{where}: the API server does not answer: {said(error)}") from error


class _Gone(ClusterError):
    """Nothing of that name is there, or the API server does not know the kind."""
