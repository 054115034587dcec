"""Where requests are answered, and their work is put in line: what Atlas refuses is refused here.

The codes of errors are Atlas's own where its documentation or tools name them; three are ours:
CHANGE_IN_PROGRESS, OUTAGE_IN_PROGRESS and UNSUPPORTED_VERSION.
"""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from brownout.atlas.answers import Kind, OutageFilter, Shard
from brownout.atlas.sizes import layout
from brownout.databases.mongodb.lab.atlas_api.book import Book, now, region_of, specification
from brownout.databases.mongodb.lab.atlas_api.members import Members
from brownout.databases.mongodb.lab.atlas_api.work import Work
from brownout.databases.mongodb.room import oplog_s
from brownout.inventory.model import Cluster

__all__ = ["Answer", "Desk"]

_LAG, _OPLOG = "OPLOG_SLAVE_LAG_MASTER_TIME", "OPLOG_MASTER_TIME"
_REASONS = {400: "Bad Request", 404: "Not Found", 409: "Conflict", 406: "Not Acceptable"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent back."""

    status: int
    body: Any = field(default_factory=dict)

    @classmethod
    def refusal(cls, status: int, code: str, detail: str) -> "Answer":
        """Return an error in the form that the API has for all of them."""
        reason = _REASONS.get(status, "Error")
        body = {"detail": detail, "error": status, "errorCode": code, "reason": reason}
        return cls(status, {**body, "parameters": []})


class Desk:
    """Answers for one cluster. Work begins `delay_s` after its request, and is done in order."""

    def __init__(self, cluster: Cluster, project: str, delay_s: float) -> None:
        self._cluster = cluster
        self._members = Members(cluster)
        version, specs = self._members.version(), specification(cluster.nodes)
        self.book = Book(project, cluster.name, version, specs)
        self._lock = threading.Lock()
        self._work = Work(self.book, self._members, self._lock, delay_s)

    def idle(self) -> bool:
        """Whether the cluster is as it was made and nothing is in line."""
        with self._lock:
            book = self.book
            return book.state == "IDLE" and not book.paused and book.outage is None

    def cluster(self) -> Answer:
        """Answer `getCluster`."""
        with self._lock:
            return Answer(200, self.book.cluster())

    def status(self) -> Answer:
        """Answer `getClusterStatus`."""
        with self._lock:
            done = self.book.state == "IDLE"
        return Answer(200, {"changeStatus": "APPLIED" if done else "PENDING"})

    def change(self, body: Mapping[str, Any]) -> Answer:
        """Answer `updateCluster`: another size, or a pause, or its end."""
        paused, specs = body.get("paused"), body.get("replicationSpecs")
        if not isinstance(paused, bool | None) or not (specs is None or _read(Shard, specs)):
            return Answer.refusal(400, "VALIDATION_ERROR", "This is not a change of a cluster.")
        with self._lock:
            refusal = self._objection()
            if refusal:
                return refusal
            if self.book.paused and paused is not False:
                detail = "Cannot update a cluster while it is paused."
                return Answer.refusal(400, "CANNOT_UPDATE_PAUSED_CLUSTER", detail)
            if specs is not None and layout(specs) != layout(self.book.specs):
                detail = "This lab changes sizes only, not how many nodes or shards there are."
                return Answer.refusal(400, "VALIDATION_ERROR", detail)
            if paused is not None and paused != self.book.paused:
                self._work.begin(self._work.pausing(paused))
            elif specs is not None:
                self._work.begin(self._work.resizing(specs))
            return Answer(200, self.book.cluster())

    def restart_primaries(self) -> Answer:
        """Answer `restartPrimaries`: the failover test."""
        with self._lock:
            refusal = self._objection()
            if refusal:
                return refusal
            if self.book.paused:
                detail = "Cannot test failover of a cluster while it is paused."
                return Answer.refusal(400, "CANNOT_UPDATE_PAUSED_CLUSTER", detail)
            self._work.begin(self._work.failover)
            return Answer(200)

    def start_outage(self, body: Mapping[str, Any]) -> Answer:
        """Answer `startOutageSimulation`."""
        filters = body.get("outageFilters")
        wanted = _read(OutageFilter, filters)
        if not wanted:
            return Answer.refusal(400, "VALIDATION_ERROR", "This names no region.")
        regions = [each.region_name for each in wanted]
        all_regions = {region_of(node) for node in self._cluster.nodes}
        with self._lock:
            refusal = self._objection()
            if refusal:
                return refusal
            if not set(regions) <= all_regions:
                detail = f"Regions {regions}: the cluster is in {sorted(all_regions)}."
                return Answer.refusal(400, "VALIDATION_ERROR", detail)
            self.book.begin_outage([dict(each) for each in filters or []])
            self._work.begin(self._work.cutting(set(regions)))
            return Answer(200, dict(self.book.outage or {}))

    def outage(self) -> Answer:
        """Answer `getOutageSimulation`."""
        with self._lock:
            outage = self.book.outage
            return Answer(200, dict(outage)) if outage else self._no_outage()

    def end_outage(self) -> Answer:
        """Answer `endOutageSimulation`: only one that has wholly begun can be ended."""
        with self._lock:
            outage = self.book.outage
            if outage is None:
                return self._no_outage()
            if outage["state"] != "SIMULATING":
                detail = (
                    f"Invalid cluster outage simulation state: {outage['state']}, "
                    "expected state: SIMULATING"
                )
                return Answer.refusal(400, "INVALID_CLUSTER_OUTAGE_SIMULATION_STATE", detail)
            self.book.outage_is("RECOVERY_REQUESTED")
            self._work.begin(self._work.join)
            return Answer(200, dict(outage))

    def processes(self) -> Answer:
        """Answer `listGroupProcesses`, with what each member says of itself."""
        roles = self._members.roles()
        entries = [self.book.process(node, roles[node.name]) for node in self._cluster.nodes]
        return Answer(200, {"results": entries})

    def measurements(self, process: str, names: list[str]) -> Answer:
        """Answer `getProcessMeasurements`: the lag behind the primary, now."""
        node = next((each for each in self._cluster.nodes if each.address == process), None)
        if node is None:
            return Answer.refusal(404, "RESOURCE_NOT_FOUND", f"No process {process} exists.")
        measured = {
            _LAG: lambda: self._members.lags_s()[node.name],
            _OPLOG: lambda: oplog_s(self._cluster, node),
        }
        if set(names) - set(measured):
            detail = f"This lab measures {' and '.join(measured)} only."
            return Answer.refusal(400, "VALIDATION_ERROR", detail)
        entries = [
            {
                "name": name,
                "units": "SECONDS",
                "dataPoints": [{"timestamp": now(), "value": measured[name]()}],
            }
            for name in names
        ]
        body = {"groupId": self.book.project, "processId": process, "measurements": entries}
        return Answer(200, {**body, "granularity": "PT1M"})

    def events(self) -> Answer:
        """Answer `listGroupEvents`."""
        with self._lock:
            return Answer(200, {"results": list(self.book.events)})

    def maintenance(self) -> Answer:
        """Answer `getMaintenanceWindow`."""
        with self._lock:
            return Answer(200, self.book.maintenance())

    def change_maintenance(self, body: Mapping[str, Any]) -> Answer:
        """Answer `updateMaintenanceWindow`; in this lab something is always scheduled."""
        day, hour = body.get("dayOfWeek"), body.get("hourOfDay", 0)
        if day not in range(1, 8) or hour not in range(24):
            return Answer.refusal(400, "VALIDATION_ERROR", "This is not a maintenance window.")
        with self._lock:
            at_once = bool(body.get("startASAP"))
            refusal = self._objection() if at_once else None
            if refusal:
                return refusal
            self.book.window = {"dayOfWeek": day, "hourOfDay": hour, "startASAP": at_once}
            if at_once:
                self._work.begin(self._work.maintain)
            return Answer(200)

    def reset_maintenance(self) -> Answer:
        """Answer `resetMaintenanceWindow`."""
        with self._lock:
            self.book.window = {}
            return Answer(204, None)

    def _objection(self) -> Answer | None:
        """Return why nothing can be changed now."""
        if self.book.state != "IDLE":
            detail = f"Cluster {self.book.name} is {self.book.state}."
            return Answer.refusal(409, "CHANGE_IN_PROGRESS", detail)
        if self.book.outage is not None:
            detail = f"Cluster {self.book.name} undergoes an outage simulation."
            return Answer.refusal(409, "OUTAGE_IN_PROGRESS", detail)
        return None

    def _no_outage(self) -> Answer:
        detail = f"No outage simulation of cluster {self.book.name} exists."
        return Answer.refusal(404, "CLUSTER_OUTAGE_SIMULATION_NOT_FOUND", detail)


def _read(kind: type[Kind], entries: Any) -> list[Kind]:
    """Return `entries` as `kind`; empty if one is of another shape or they are not a list."""
    try:
        return [kind.model_validate(each) for each in entries if isinstance(entries, list)]
    except (ValidationError, TypeError):
        return []
