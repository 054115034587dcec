"""What Atlas answered, ready for a journal: small, plain and the same for every kind of answer."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from brownout.atlas.answers import AtlasEvent, Measurements
from brownout.atlas.objections import State, regions
from brownout.atlas.sizes import Size, sizes

__all__ = ["ago", "of_events", "of_measurements", "of_state"]


def of_state(state: State) -> dict[str, Any]:
    """Return what a cluster is and what is done to it now."""
    cluster, outage = state.cluster, state.outage
    return {
        "state": cluster.state_name,
        "paused": cluster.paused,
        "pending": state.pending,
        "type": cluster.cluster_type,
        "version": cluster.mongo_db_version,
        "sizes": [Size(*size).words() for size in sizes(cluster.replication_specs)],
        "nodes": {name: nodes for name, (_, nodes) in regions(cluster).items()},
        "outage": outage.state if outage else None,
    }


def of_measurements(measurements: Measurements) -> dict[str, dict[str, Any]]:
    """Return the latest point of each measurement that has one, else a `value` of None."""
    latest = {}
    for one in measurements.measurements:
        points = [point for point in one.data_points if point.value is not None]
        last = max(points, key=lambda point: point.timestamp, default=None)
        latest[one.name] = {
            "value": last.value if last else None,
            "units": one.units,
            "at": _written(last.timestamp) if last else None,
        }
    return latest


def of_events(events: Sequence[AtlasEvent]) -> list[dict[str, str]]:
    """Return the name and the time of each event, the newest first."""
    newest = sorted(events, key=lambda event: event.created, reverse=True)
    return [{"name": e.event_type_name, "at": _written(e.created)} for e in newest]


def ago(minutes: float) -> str:
    """Return that many minutes ago as the API takes it."""
    return _written(datetime.now(UTC) - timedelta(minutes=minutes))


def _written(at: datetime) -> str:
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")
