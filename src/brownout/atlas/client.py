"""Asking the API: each method is one call, and returns what Atlas answered."""

import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import httpx

from brownout.atlas import answers, calls
from brownout.atlas.answers import Kind
from brownout.atlas.calls import Call
from brownout.atlas.errors import AtlasError, refused, unanswered
from brownout.atlas.login import TOKEN_PATH, login_of
from brownout.atlas.retries import Pacing
from brownout.inventory.atlas import AtlasSpec, is_loopback

__all__ = ["AtlasClient"]

#: The most that the API gives at once.
_PAGE = 500
#: What else may be missing than a simulated outage. Atlas does not publish its code for that.
_MISSING = ("GROUP_NOT_FOUND", "CLUSTER_NOT_FOUND")


class AtlasClient:
    """One cluster's part of the API. Every method raises `AtlasError` as its last word.

    `pause` waits between tries; it may raise to end them, as where a run was stopped.
    """

    def __init__(self, spec: AtlasSpec, pause: Callable[[float], None] = time.sleep) -> None:
        self._spec = spec
        self._pacing = Pacing(spec.patience_s, pause)
        self._http = httpx.Client(
            base_url=spec.base_url,
            auth=login_of(spec),
            timeout=spec.timeout_s,
            verify=ssl.create_default_context(cafile=spec.ca_file) if spec.ca_file else True,
            trust_env=not is_loopback(spec.base_url),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection."""
        self._http.close()

    def cluster(self) -> answers.AtlasCluster:
        """Return what the cluster consists of and what is done to it now."""
        return self._ask(calls.read_cluster(self._spec), answers.AtlasCluster)

    def change(self, change: Mapping[str, Any]) -> answers.AtlasCluster:
        """Request a change of the cluster; `status` says when it is made."""
        return self._ask(calls.change_cluster(self._spec, change), answers.AtlasCluster)

    def pause(self) -> answers.AtlasCluster:
        """Request that the cluster stops; it serves no reads or writes then."""
        return self.change({"paused": True})

    def resume(self) -> answers.AtlasCluster:
        """Request that a paused cluster resumes."""
        return self.change({"paused": False})

    def status(self) -> answers.ChangeStatus:
        """Return whether all requested changes are made."""
        return self._ask(calls.read_status(self._spec), answers.ChangeStatus)

    def restart_primaries(self) -> None:
        """Request a failover test."""
        self._send(calls.restart_primaries(self._spec))

    def start_outage(self, regions: Sequence[tuple[str, str]]) -> answers.Outage:
        """Request that `regions`, each as `("AWS", "US_EAST_1")`, are cut off."""
        return self._ask(calls.start_outage(self._spec, regions), answers.Outage)

    def outage(self) -> answers.Outage | None:
        """Return the current outage; None without one."""
        try:
            return self._ask(calls.read_outage(self._spec), answers.Outage)
        except AtlasError as error:
            # Atlas gives a code; a proxy's page about a wrong path proves no outage to be over.
            if error.status == 404 and error.code.isupper() and error.code not in _MISSING:
                return None
            raise

    def end_outage(self) -> answers.Outage:
        """Request the end of the outage."""
        return self._ask(calls.end_outage(self._spec), answers.Outage)

    def processes(self) -> list[answers.Process]:
        """Return every mongod and mongos of the project, other clusters' too."""
        return self._list(calls.list_processes(self._spec), answers.Process)

    def measurements(self, process: str, names: Sequence[str]) -> answers.Measurements:
        """Return up to ten measurements of one process (`host:port`)."""
        return self._ask(calls.read_measurements(self._spec, process, names), answers.Measurements)

    def events(self, since: str, until: str = "") -> list[answers.AtlasEvent]:
        """Return what Atlas noted about the cluster between two times, in ISO 8601, UTC."""
        return self._list(calls.list_events(self._spec, since, until), answers.AtlasEvent)

    def maintenance(self) -> answers.MaintenanceWindow:
        """Return when the project's maintenance is."""
        return self._ask(calls.read_maintenance(self._spec), answers.MaintenanceWindow)

    def change_maintenance(self, change: Mapping[str, Any]) -> None:
        """Request another window, or with `startASAP` what is scheduled at once."""
        self._send(calls.change_maintenance(self._spec, change))

    def reset_maintenance(self) -> None:
        """Request that the project has no window of its own."""
        self._send(calls.reset_maintenance(self._spec))

    def _list(self, call: Call, kind: type[Kind]) -> list[Kind]:
        """Return the entries of all pages; a short page is the last one."""
        entries: list[dict[str, Any]] = []
        while True:
            number = len(entries) // _PAGE + 1
            query = {**call.query, "itemsPerPage": str(_PAGE), "pageNum": str(number)}
            page = self._ask(replace(call, query=query), answers.Page)
            entries += page.results
            if len(page.results) < _PAGE:
                return [answers.read_entry(kind, entry, call.name()) for entry in entries]

    def _ask(self, call: Call, kind: type[Kind]) -> Kind:
        return answers.read(kind, self._send(call), call.name())

    def _send(self, call: Call) -> bytes:
        return self._pacing.repeat(call, lambda: self._once(call))

    def _once(self, call: Call) -> bytes:
        try:
            response = self._http.request(
                call.method,
                call.path,
                params=dict(call.query),
                json=call.body,
                headers=_headers(call),
            )
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise unanswered(call, _why(error), False, self._spec.base_url) from error
        except httpx.HTTPError as error:
            logging_in = error.request.url.path == TOKEN_PATH
            raise unanswered(call, _why(error), not logging_in, self._spec.base_url) from error
        self._pacing.note(response.headers.get("RateLimit-Remaining"))
        if response.status_code not in (200, 204):  # 204: done, and nothing to say
            wait = response.headers.get("Retry-After", "")
            secrets = self._spec.secrets()
            raise refused(call, response.status_code, response.text, wait, secrets)
        return response.content


def _headers(call: Call) -> dict[str, str]:
    content = {"Content-Type": call.media_type} if call.body is not None else {}
    return {"Accept": call.media_type, **content}


def _why(error: httpx.HTTPError) -> str:
    """Return the reason in words; a time-out has none of its own."""
    return f"{type(error).__name__} {error}".strip()
