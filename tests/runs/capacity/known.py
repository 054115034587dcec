"""A system whose capacity is known: the scripted server at a pace, driven by the real generator."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from brownout.calibration.trial import scripted_server
from brownout.load import workload as workloads
from brownout.load.workload import Workload


@contextmanager
def paced_server(directory: Path, script: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Serve `script`; yield what a step needs to reach it."""
    directory.mkdir(parents=True, exist_ok=True)
    with scripted_server(directory, script, directory / "truth.json") as address:
        connection = {"uri": f"scripted://{address}"}
        yield {"driver": "scripted", "connection": connection, "options": {}}


def workload(rate: float = 200, sla: str = "p99_ms: 100", deadline_s: float = 1.0) -> Workload:
    """Two streams, reads and writes in equal parts, that promise the same percentile."""
    name, _, limit = sla.partition(": ")
    promise = {"total": {name: float(limit)}}
    return workloads.parse(
        {
            "data": {"keys": 500, "value_bytes": 64},
            "streams": [
                {"name": "reads", "mix": {"read": 100}, "rate": rate / 2, "deadline_s": deadline_s},
                {
                    "name": "writes",
                    "mix": {"update": 100},
                    "rate": rate / 2,
                    "deadline_s": deadline_s,
                },
            ],
            "sla": {"reads": promise, "writes": promise},
        },
        "known",
    )
