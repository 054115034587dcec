"""The ChaosResult of one experiment of one engine, as litmus-go makes it. Pure.

The history continues over all runs of the engine; the annotation `brownout/run` says which one was
counted last, so that a write that is repeated counts it once.
"""

from collections.abc import Mapping
from typing import Any

from brownout.faults.litmus.engine_status import experiment_status
from brownout.faults.litmus.surroundings import Surroundings
from brownout.litmus.status import Told, with_history

__all__ = ["RUN", "chaosresult", "is_of_our_job", "says_so"]

Document = Mapping[str, Any]
RUN = "brownout/run"
#: What the controller of jobs calls a job on its pods, by its version.
_JOB = ("batch.kubernetes.io/job-name", "job-name")


def chaosresult(
    here: Surroundings,
    engine: Document,
    labels: Mapping[str, str],
    report: Told,
    run: str,
    before: Document | None,
) -> dict[str, Any]:
    """Return the object to write; `before` is the one that is there, `labels` those of our pod."""
    old = (before or {}).get("metadata") or {}
    owner = engine["metadata"]
    metadata = {
        "name": here.result,
        "namespace": here.namespace,
        "labels": {**(old.get("labels") or {}), **labels, "chaosUID": owner["uid"]},
        "annotations": {**(old.get("annotations") or {}), RUN: run},
        "ownerReferences": [
            {"apiVersion": engine["apiVersion"], "kind": engine["kind"], "name": owner["name"],
             "uid": owner["uid"]}
        ],
    }  # fmt: skip
    if "resourceVersion" in old:
        metadata["resourceVersion"] = old["resourceVersion"]
    spec = {"engine": here.engine, "experiment": here.experiment}
    if here.instance:
        spec["instance"] = here.instance
    history = ((before or {}).get("status") or {}).get("history")
    return {
        "apiVersion": engine["apiVersion"],
        "kind": "ChaosResult",
        "metadata": metadata,
        "spec": spec,
        "status": with_history(report, history),
    }


def says_so(result: Document | None, report: Told, run: str) -> bool:
    """Say whether `report` of this run stands there already."""
    if result is None:
        return False
    noted = (result["metadata"].get("annotations") or {}).get(RUN)
    return noted == run and experiment_status(result).get("verdict") == report.verdict


def is_of_our_job(result: Document | None, labels: Mapping[str, str]) -> bool:
    """Say whether a pod of the same job wrote that it runs, and never what came of it."""
    if result is None or experiment_status(result).get("phase") != "Running":
        return False
    theirs = result["metadata"].get("labels") or {}
    return any(name in labels and theirs.get(name) == labels[name] for name in _JOB)
