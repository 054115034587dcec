"""From a workload and a cluster's connection to the load generator's input, one JSON object.

It holds the connection's secrets, so it is only ever written to the generator's stdin.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from brownout.errors import ConfigurationError
from brownout.load.options import DriverOptions
from brownout.load.problems import Problem, from_validation
from brownout.load.workload_fields import Stream

if TYPE_CHECKING:
    from brownout.load.workload import Workload

__all__ = ["SCHEMA", "build"]

#: The version of the format that the generator understands.
SCHEMA = 1


def build(
    workload: "Workload",
    *,
    directory: Path,
    seed: int,
    writer: str,
    driver: str,
    connection: Mapping[str, Any],
    options: Mapping[str, Any],
    metrics: str = "",
) -> dict[str, Any]:
    """Return the generator's specification of one load.

    `directory` is the run directory, `writer` the run's id that is stored with each record,
    `options` the inventory's, over which the workload's go. Raises `ConfigurationError` for an
    option that the driver does not have.
    """
    return {
        "schema": SCHEMA,
        "dir": str(directory),
        "seed": seed if workload.seed is None else workload.seed,
        "writer": writer,
        "driver": driver,
        "connection": dict(connection),
        "options": _options(workload.options, driver, options),
        "namespace": workload.namespace,
        "data": workload.data.model_dump(mode="json"),
        "streams": [_stream(stream) for stream in workload.streams],
        "lane_cap": workload.lanes.cap,
        "global_cap": workload.lanes.global_cap,
        "metrics": metrics,
    }


def _stream(stream: Stream) -> dict[str, Any]:
    return {**stream.model_dump(mode="json"), "mix": stream.shares()}


def _options(own: DriverOptions, driver: str, inventory: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the inventory's options with the workload's, which win, and check the result."""
    if driver not in DriverOptions.model_fields:
        return dict(inventory)
    stated = own.model_dump(mode="json", exclude_none=True).get(driver, {})
    try:
        merged = DriverOptions.model_validate({driver: {**inventory, **stated}})
    except ValidationError as error:
        found = from_validation(error, DriverOptions)
        shown = [Problem(("connection", "options", *p.place[1:]), p.text) for p in found]
        raise ConfigurationError([f"inventory: {problem}" for problem in shown]) from error
    result: dict[str, Any] = merged.model_dump(mode="json", exclude_none=True)[driver]
    if "write_concern" in result:
        result["write_concern"] = str(result["write_concern"])
    return result
