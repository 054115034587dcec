"""From a workload and a cluster's connection to the load generator's input, one JSON object.

It holds the connection's secrets, so it is only ever written to the generator's stdin.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from brownout.base.errors import ConfigurationError
from brownout.base.problems import Problem, problems_in
from brownout.inventory.database import Reading, of_driver
from brownout.load.options import DriverOptions
from brownout.load.workload_fields import Data, DataSet, Records, Stream

if TYPE_CHECKING:
    from brownout.load.workload import Workload

__all__ = ["SCHEMA", "build"]

#: What we store beside a value, and each field costs, at most.
OVERHEAD_BYTES = 256
FIELD_BYTES = 16

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
    labels: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return the generator's specification of one load.

    `directory` is the run directory, `writer` the run's id that is stored with each record,
    `options` the inventory's, over which the workload's go,
    `labels` what every metric carries beside the run. Raises `ConfigurationError` for an
    option that the driver does not have.
    """
    _check_sizes(workload.data, driver)
    merged = _options(workload.options, driver, options)
    database = of_driver(driver)
    reading = Reading() if database is None else database.reading(merged)
    return {
        "schema": SCHEMA,
        "dir": str(directory),
        "seed": seed if workload.seed is None else workload.seed,
        "writer": writer,
        "driver": driver,
        "connection": dict(connection),
        "options": merged,
        "namespace": workload.namespace,
        "data": _data(workload.data),
        "streams": [_stream(stream, reading) for stream in workload.streams],
        "lane_cap": workload.lanes.cap,
        "global_cap": workload.lanes.global_cap,
        "labels": dict(labels),
    }


def _data(data: Data) -> dict[str, Any]:
    """Return the data sets: a single plain one as its numbers, all others as a list."""
    section = {"load": data.load, "load_concurrency": data.load_concurrency}
    plain = not data.sets and data.fields == 1 and data.compress_to == 1
    if plain and len(data.sizes) == 1:
        return {**section, "keys": data.keys, "value_bytes": data.sizes[0]}
    return {**section, "sets": [_set(records) for records in data.all_sets]}


def _set(records: Records) -> dict[str, Any]:
    return {
        "name": records.name if isinstance(records, DataSet) else "data",
        "keys": records.keys,
        "value_bytes": list(records.sizes),
        "fields": records.fields,
        "compress_to": records.compress_to,
    }


def _check_sizes(data: Data, driver: str) -> None:
    """Raise `ConfigurationError` where the database would refuse a record for its size."""
    driver_options = of_driver(driver)
    if driver_options is None or driver_options.most_bytes is None:
        return
    most = driver_options.most_bytes
    problems = []
    for place, records in _placed(data):
        stored = max(records.sizes) + OVERHEAD_BYTES + FIELD_BYTES * records.fields
        if stored > most:
            problems.append(
                f"{place}: found {max(records.sizes):,}, which makes records of about {stored:,} "
                f"bytes; wanted less than the {most:,} that {driver} allows"
            )
    if problems:
        raise ConfigurationError([f"workload: {problem}" for problem in problems])


def _placed(data: Data) -> Iterator[tuple[str, Records]]:
    if not data.sets:
        yield "data.value_bytes", data
    for index, records in enumerate(data.sets):
        yield f"data.sets[{index}].value_bytes", records


def _stream(stream: Stream, reading: Reading) -> dict[str, Any]:
    """Return one stream; what its reads are to see is its own word, or what the driver's get."""
    http = None if stream.http is None else stream.http.to_spec()
    if stream.client is not None:  # whom it asks is its own choice
        reading = Reading(asked="its client's choice")
    guarantee = "linearizable" if stream.linearizable else reading.guarantee
    reads = {"reads": stream.reads or guarantee, "reads_from": reading.asked}
    return {**stream.model_dump(mode="json"), "mix": stream.shares(), "http": http, **reads}


def _options(own: DriverOptions, driver: str, inventory: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the inventory's options with the workload's, which win, and check the result."""
    if driver not in DriverOptions.model_fields:
        return dict(inventory)
    stated = own.model_dump(mode="json", exclude_none=True).get(driver, {})
    try:
        merged = DriverOptions.model_validate({driver: {**inventory, **stated}})
    except ValidationError as error:
        problems = problems_in(error, DriverOptions)
        shown = [Problem(("connection", "options", *p.place[1:]), p.text) for p in problems]
        raise ConfigurationError([f"inventory: {problem}" for problem in shown]) from error
    result: dict[str, Any] = merged.model_dump(mode="json", exclude_none=True)[driver]
    pool, kept = result.get("pool_size"), result.get("min_pool_size")
    if pool is not None and kept is not None and kept > pool:
        place = f"options.{driver}.min_pool_size"
        raise ConfigurationError(
            f"{place}: found {kept:,}, wanted no more than pool_size, {pool:,}"
        )
    if "write_concern" in result:
        result["write_concern"] = str(result["write_concern"])
    return result
