"""The API server, asked about Litmus's kinds in one namespace."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from kubernetes.client import ApiClient

from brownout.base.errors import ClusterError
from brownout.faults.litmus.manifest import API_VERSION
from brownout.kubernetes.objects import Object, Objects, in_namespace
from brownout.kubernetes.problems import Missing

__all__ = ["Litmus"]

_ROLE = "infra/litmus/rbac.yaml, docs/litmus.md"
_ENGINES, _RESULTS = "chaosengines", "chaosresults"


class Litmus:
    """The Litmus objects of one namespace. Methods raise `HostError`.

    What may be asked twice is, for `patience_s` seconds, where the server is away.
    """

    def __init__(self, client: ApiClient, namespace: str, patience_s: float = 0.0) -> None:
        self.namespace, self._client = namespace, client
        self._objects = Objects(client, patience_s, _ROLE)

    @property
    def server(self) -> str:
        """The URL of the API server."""
        return self._objects.server

    def close(self) -> None:
        """Give back its connections."""
        self._client.close()

    def engine(self, name: str) -> Object | None:
        """Return a ChaosEngine; None where there is none of that name."""
        return self._objects.find(self._path(_ENGINES, name))

    def result(self, name: str) -> Object | None:
        """Return a ChaosResult; None where there is none of that name."""
        return self._objects.find(self._path(_RESULTS, name))

    def create_engine(self, engine: Object) -> Object:
        """Make a ChaosEngine; `Conflict` where one of its name is there."""
        return self._objects.create(self._path(_ENGINES), engine)

    def set_state(self, name: str, state: str) -> None:
        """Give a ChaosEngine another `engineState`. Safe where it is gone."""
        with suppress(Missing):
            self._objects.merge(self._path(_ENGINES, name), {"spec": {"engineState": state}})

    def delete_engine(self, engine: Object) -> None:
        """Remove this very ChaosEngine; its operator removes what it started. Safe to repeat."""
        meta = engine["metadata"]
        self._objects.delete(self._path(_ENGINES, meta["name"]), meta["uid"])

    def write_result(self, result: Object) -> Object:
        """Make a ChaosResult, or write over the version of it that `result` was made from."""
        name = result["metadata"]["name"]
        if "resourceVersion" in result["metadata"]:
            written = self._objects.replace(self._path(_RESULTS, name), result)
        else:
            written = self._objects.create(self._path(_RESULTS), result)
        if written.get("status") != result["status"]:
            raise ClusterError(
                f"ChaosResult `{name}`: the API server did not keep its status",
                "Litmus's own CRD has no status subresource: is this one another's?",
            )
        return written

    def labels_of_pod(self, name: str) -> dict[str, str]:
        """Return the labels of a pod; none of one that is gone."""
        pod = self._objects.find(in_namespace(self.namespace, "pods", name))
        return dict((pod or {}).get("metadata", {}).get("labels") or {})

    def injected(self, engine_uid: str) -> bool:
        """Say whether an experiment of this engine noted that it injects, as litmus-go does."""
        chosen = f"involvedObject.uid={engine_uid},reason=ChaosInject"
        events = in_namespace(self.namespace, "events")
        return bool(self._objects.listed(events, fieldSelector=chosen))

    def note(self, about: Mapping[str, Any], reason: str, message: str, pod: str) -> None:
        """Write an event of an object, as litmus-go does: a warning for bad news."""
        now, meta = datetime.now(UTC).isoformat(timespec="seconds"), about["metadata"]
        event = {
            "metadata": {"generateName": "brownout-", "namespace": self.namespace},
            "involvedObject": {
                "apiVersion": about["apiVersion"], "kind": about["kind"], "name": meta["name"],
                "namespace": self.namespace, "uid": meta.get("uid"),
            },
            "source": {"component": pod or "brownout"},
            "reason": reason, "message": message, "count": 1,
            "firstTimestamp": now, "lastTimestamp": now,
            "type": "Normal" if reason in ("Awaited", "Pass") else "Warning",
        }  # fmt: skip
        self._objects.create(in_namespace(self.namespace, "events"), event)

    def _path(self, kind: str, name: str = "") -> str:
        return in_namespace(self.namespace, kind, name, group=f"/apis/{API_VERSION}")
