"""The API's objects as plain JSON: read, listed, made, changed and deleted by their paths.

A path is what `brownout plan` prints, too:

    DELETE /api/v1/namespaces/databases/pods/db-0
"""

import json
from collections.abc import Mapping
from typing import Any

from kubernetes.client import ApiClient
from kubernetes.client.exceptions import ApiException

from brownout.base.errors import HostError
from brownout.kubernetes.problems import MISSING, asking

__all__ = ["Conflict", "Object", "Objects", "in_namespace"]

Object = Mapping[str, Any]

_CONFLICT = 409
_GROUPS = {
    "events": "/api/v1",
    "jobs": "/apis/batch/v1",
    "persistentvolumeclaims": "/api/v1",
    "pods": "/api/v1",
    "poddisruptionbudgets": "/apis/policy/v1",
    "statefulsets": "/apis/apps/v1",
}


class Conflict(HostError):
    """Somebody else changed the object meanwhile; reading it again and another try may succeed."""


def in_namespace(namespace: str, kind: str, name: str = "", *, group: str = "") -> str:
    """Return the path of `kind` (as `pods`), or of one of them; `group` is that of no usual one."""
    path = f"{group or _GROUPS[kind]}/namespaces/{namespace}/{kind}"
    return f"{path}/{name}" if name else path


class Objects:
    """Asks one API server; every method raises `HostError` with what it was asked and said."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    @property
    def server(self) -> str:
        """Where the API server is."""
        return str(self._client.configuration.host)

    def find(self, path: str) -> Object | None:
        """Return an object; None if there is none."""
        with asking(self._client, f"GET {path}"):
            try:
                return self._call("GET", path)
            except ApiException as error:
                if error.status == MISSING:
                    return None
                raise

    def listed(self, path: str, **query: str) -> list[Object]:
        """Return all of a list, asked with a query such as `labelSelector`."""
        with asking(self._client, f"GET {path}"):
            return list(self._call("GET", path, query=query).get("items") or [])

    def create(self, path: str, body: Object) -> Object:
        """Make an object; one that exists under the name is a `Conflict`."""
        return self._change("POST", path, body)

    def merge(self, path: str, body: Object) -> Object:
        """Change an object by a merge patch; with a `resourceVersion` in it only that version."""
        return self._change("PATCH", path, body, "application/merge-patch+json")

    def delete(
        self, path: str, uid: str, grace_s: int | None = None, *, owned: bool = False
    ) -> bool:
        """Delete the object with this `uid` and no other; return whether it was there.

        With `owned` what belongs to it goes too, afterwards, as the pods of a Job do.
        """
        try:
            self._change("DELETE", path, _deletion(uid, grace_s, owned=owned))
        except HostError as error:
            cause = error.__cause__
            if isinstance(cause, ApiException) and cause.status == MISSING:
                return False
            raise
        return True

    def _change(
        self, method: str, path: str, body: Object, content: str = "application/json"
    ) -> Object:
        with asking(self._client, f"{method} {path}"):
            try:
                return self._call(method, path, body=body, content=content)
            except ApiException as error:
                if error.status != _CONFLICT:
                    raise
                conflict = error
        raise Conflict(f"kubernetes: {method} {path}: it is another one by now") from conflict

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
        response = self._client.call_api(*request)
        data = response.read()
        if not 200 <= response.status <= 299:
            raise ApiException(http_resp=response)
        found = json.loads(data)
        return found if isinstance(found, dict) else {}


def _deletion(uid: str, grace_s: int | None, *, owned: bool = False) -> Object:
    """Return the options of a deletion: only of this `uid`, in `grace_s` or its own grace."""
    options: dict[str, Any] = {"preconditions": {"uid": uid}}
    if grace_s is not None:
        options["gracePeriodSeconds"] = grace_s
    if owned:
        options["propagationPolicy"] = "Background"
    return {"apiVersion": "v1", "kind": "DeleteOptions", **options}
