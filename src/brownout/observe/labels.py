"""The labels that every metric of a run carries, from its record."""

from collections.abc import Mapping
from typing import Any

__all__ = ["LABELS", "labels_of", "of_the_load"]

#: In this order wherever they are shown.
LABELS = ("run", "experiment", "experiment_ref", "cluster", "engine", "stand_in")


def labels_of(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the labels of the run that run.json's content `record` is of.

    `stand_in` is `true` where a stand-in of ours was measured and not a database.
    """
    experiment, cluster = record["experiment"], record["cluster"]
    values = (
        record["run_id"],
        experiment["name"],
        experiment["ref"],
        cluster["name"],
        cluster["engine"],
        "true" if cluster["stand_in"] else "false",
    )
    return dict(zip(LABELS, map(str, values), strict=True))


def of_the_load(record: Mapping[str, Any]) -> dict[str, str]:
    """Return those that the load generator is given: `run` it knows, as the writer."""
    return {name: value for name, value in labels_of(record).items() if name != "run"}
