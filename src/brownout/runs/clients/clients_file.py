"""Reading a comparison's file, and finding all that is wrong with it; nothing is touched."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from brownout.base.errors import ConfigurationError
from brownout.inventory import inventory
from brownout.load import workload
from brownout.runs import series_file
from brownout.runs.clients.spec import DRIVER, Comparison, Row
from brownout.session.experiment_process import variable
from brownout.session.plan_file import plan_of

__all__ = ["read", "variables_of", "workload_of"]

#: What the comparison itself sets in every run.
_OWN = ("cluster", "workload", "load", "seed")
_DATA = {"keys": 500, "value_bytes": 100}
_LEDGER_KEYS = 100
#: The same operations for the driver and for every client, so that their figures can be compared.
_MIX = {"read": 50, "update": 50}


def read(text: str) -> Comparison:
    """Return the comparison of a file, or of a shipped one by its name.

    Raises `ConfigurationError` with every problem of the file at once.
    """
    return series_file.read(text, "comparisons", "comparison of clients", Comparison, _problems)


def workload_of(comparison: Comparison, rows: Sequence[Row]) -> dict[str, Any]:
    """Return the workload of a run: the built-in driver, and each client as a stream beside it."""
    common = {"mix": _MIX, "deadline_s": comparison.deadline_s}
    clients = [
        {
            "name": row.name,
            **common,
            "rate": comparison.rate if row.rate is None else row.rate,
            "verified": True,
            "ledger_keys": _LEDGER_KEYS,
            "client": {"command": list(row.command), "options": row.options},
        }
        for row in rows
    ]
    driver = {"name": DRIVER, **common, "rate": comparison.driver_rate}
    return {
        "title": comparison.title or comparison.name,
        "data": _DATA,
        "streams": [driver, *clients],
    }


def variables_of(comparison: Comparison, workload_file: Path | None, seed: int) -> list[str]:
    """Return the variables of a run; without a file, with the workload that is the default."""
    own: dict[str, Any] = {"cluster": comparison.cluster, "load": "", "seed": seed}
    if workload_file is not None:
        own["workload"] = str(workload_file)
    return [variable(name, value) for name, value in {**comparison.variables, **own}.items()]


def _problems(comparison: Comparison) -> Iterator[str]:
    for name in _OWN:
        if name in comparison.variables:
            yield (
                f"variables.{name}: found one of its own, but the comparison sets it; take it out"
            )
    try:
        workload.parse(workload_of(comparison, comparison.clients), comparison.name)
    except ConfigurationError as error:
        yield from error.problems
    try:
        inventory.declared(comparison.cluster)
    except ConfigurationError as error:
        yield from (f"cluster: {problem}" for problem in error.problems)
        return
    try:
        path = comparison.find_experiment(comparison.experiment)
        plan_of(str(path), variables_of(comparison, None, comparison.seed))
    except ConfigurationError as error:
        yield from (f"experiment: {problem}" for problem in error.problems)
