"""The API's objects as plain JSON: read, listed, made, changed and deleted by their paths.

A path is what `brownout plan` prints, too:

    DELETE /api/v1/namespaces/databases/pods/db-0
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from kubernetes.client import ApiClient
from kubernetes.client.exceptions import ApiException

from brownout.kubernetes.problems import ROLE, Away, Missing, asking
from brownout.kubernetes.retries import persist

__all__ = ["Object", "Objects", "in_namespace"]

Object = Mapping[str, Any]
T = TypeVar("T")

_GROUPS = {
    "events": "/api/v1",
    "jobs": "/apis/batch/v1",
    "persistentvolumeclaims": "/api/v1",
    "pods": "/api/v1",
    "poddisruptionbudgets": "/apis/policy/v1",
    "services": "/api/v1",
    "statefulsets": "/apis/apps/v1",
}


def in_namespace(namespace: str, kind: str, name: str = "", *, group: str = "") -> str:
    """Return the path of `kind` (as `pods`), or of one of them; `group` is that of no usual one."""
    path = f"{group or _GROUPS[kind]}/namespaces/{namespace}/{kind}"
    return f"{path}/{name}" if name else path


class Objects:
    """Asks one API server; every method raises `HostError` with what it was asked and said.

    While the server is `Away`, what may be asked twice is asked again for `patience_s` seconds.
    The hint of a refusal names `role`, which gives the rights.
    """

    def __init__(self, client: ApiClient, patience_s: float = 0.0, role: str = ROLE) -> None:
        self._client, self._patience_s, self._role = client, patience_s, role

    @property
    def server(self) -> str:
        """Where the API server is."""
        return str(self._client.configuration.host)

    def find(self, path: str) -> Object | None:
        """Return an object; None if there is none."""
        try:
            return self._again(lambda: self._call("GET", path))
        except Missing:
            return None

    def listed(self, path: str, **query: str) -> list[Object]:
        """Return all of a list, asked with a query such as `labelSelector`."""
        answer = self._again(lambda: self._call("GET", path, query=query))
        return list(answer.get("items") or [])

    def create(self, path: str, body: Object) -> Object:
        """Make an object; one that exists under the name is a `Conflict`."""
        return self._call("POST", path, body=body)

    def replace(self, path: str, body: Object) -> Object:
        """Write over an object, where it still has the `resourceVersion` of `body`."""
        return self._call("PUT", path, body=body)

    def merge(self, path: str, body: Object) -> Object:
        """Change an object by a merge patch; with a `resourceVersion` in it only that version."""
        content = "application/merge-patch+json"
        return self._again(lambda: self._call("PATCH", path, body=body, content=content))

    def delete(
        self, path: str, uid: str, grace_s: int | None = None, *, owned: bool = False
    ) -> bool:
        """Delete the object with this `uid` and no other; return whether it was there.

        With `owned` what belongs to it goes too, afterwards, as the pods of a Job do.
        """
        options = _deletion(uid, grace_s, owned=owned)
        try:
            self._again(lambda: self._call("DELETE", path, body=options))
        except Missing:
            return False
        return True

    def _again(self, ask: Callable[[], T]) -> T:
        return persist(ask, self._patience_s, (Away,))

    def _call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Object | None = None,
        content: str = "application/json",
    ) -> Object:
        headers = {"Accept": "application/json", "Content-Type": content}
        request = self._client.param_serialize(
            method,
            path,
            query_params=list((query or {}).items()),
            header_params=headers,
            body=body,
            auth_settings=["BearerToken"],
        )
        with asking(self._client, f"{method} {path}", self._role):
            response = self._client.call_api(*request)
            data = response.read()
            if not 200 <= response.status <= 299:
                raise ApiException(http_resp=response)
        answer = json.loads(data)
        return answer if isinstance(answer, dict) else {}


def _deletion(uid: str, grace_s: int | None, *, owned: bool = False) -> Object:
    """Return the options of a deletion: only of this `uid`, in `grace_s` or its own grace."""
    options: dict[str, Any] = {"preconditions": {"uid": uid}}
    if grace_s is not None:
        options["gracePeriodSeconds"] = grace_s
    if owned:
        options["propagationPolicy"] = "Background"
    return {"apiVersion": "v1", "kind": "DeleteOptions", **options}
