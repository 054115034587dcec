"""Mark what breaks or repairs the cluster outside the experiment's steps.

For what an operator, a script or another system does at a moment that only the experiment knows.
brownout measures the fault from there on as one of its own, and puts nothing back.
"""

from contextlib import closing
from typing import Any

from chaoslib.types import Configuration, Secrets

from brownout.faults.others.chaos_mesh import ChaosMesh
from brownout.faults.others.fis import Fis
from brownout.session.activity import activity
from brownout.session.current import current

__all__ = ["break_by_chaos_mesh", "break_by_fis", "mark_break", "mark_mend"]
__all__ += ["mend_by_chaos_mesh", "mend_by_fis"]


@activity(told="notes that something outside this experiment breaks the cluster")
def mark_break(
    name: str, by: str = "", configuration: Configuration = None, secrets: Secrets = None
) -> dict[str, Any]:
    """Note that `name` breaks the cluster at this moment, done `by` a person or a tool.

    Returns `{"name": "failover-by-hand", "by": "the operator", "t": 31.204}`, `t` in seconds
    since the load began. It takes effect when the cluster's members change, or else at once.
    """
    return current().mark("break", name, by)


@activity(told="notes that something outside this experiment repairs the cluster")
def mark_mend(
    name: str, by: str = "", configuration: Configuration = None, secrets: Secrets = None
) -> dict[str, Any]:
    """Note that `name` repairs the cluster at this moment, done `by` a person or a tool.

    Returns what `mark_break` returns.
    """
    return current().mark("mend", name, by)


@activity(told="waits until a fault of Chaos Mesh begins, and notes when")
def break_by_chaos_mesh(
    kind: str,
    name: str,
    namespace: str = "default",
    kubeconfig: str = "",
    context: str = "",
    begins_within_s: float = 120.0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Wait until an object of Chaos Mesh says that it began, and note it as a break of then.

    `kind` is as `PodChaos`. Returns `{"name": "PodChaos shop/kill-one", "by": "Chaos Mesh",
    "t": 31.204, "evidence": {"targets": ["shop/db-0"], …}}`; fails after `begins_within_s` seconds.
    """
    with closing(ChaosMesh(kind, name, namespace, kubeconfig, context)) as source:
        return current().follow("break", source, "Chaos Mesh", float(begins_within_s))


@activity(told="waits until an experiment of AWS FIS begins, and notes when")
def break_by_fis(
    experiment: str,
    action: str = "",
    region: str = "",
    begins_within_s: float = 120.0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Wait until an experiment of AWS FIS says that it began, and note it as a break of then.

    `experiment` is its id, `action` the name of one of its actions; by default all that do not
    only wait. Returns what `break_by_chaos_mesh` returns; fails after `begins_within_s` seconds.
    """
    with closing(Fis(experiment, action, region)) as source:
        return current().follow("break", source, "AWS FIS", float(begins_within_s))


@activity(told="waits until a fault of Chaos Mesh ends, and notes when")
def mend_by_chaos_mesh(
    kind: str,
    name: str,
    namespace: str = "default",
    kubeconfig: str = "",
    context: str = "",
    ends_within_s: float = 600.0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Wait until an object of Chaos Mesh says that it ended, and note it as a mend of then.

    `kind` is as `PodChaos`. Returns `{"name": "PodChaos shop/kill-one", "by": "Chaos Mesh",
    "t": 31.204, "evidence": {"targets": ["shop/db-0"], …}}`; fails after `ends_within_s` seconds.
    """
    with closing(ChaosMesh(kind, name, namespace, kubeconfig, context)) as source:
        return current().follow("mend", source, "Chaos Mesh", float(ends_within_s))


@activity(told="waits until an experiment of AWS FIS ends, and notes when")
def mend_by_fis(
    experiment: str,
    action: str = "",
    region: str = "",
    ends_within_s: float = 600.0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Wait until an experiment of AWS FIS says that it ended, and note it as a mend of then.

    `experiment` is its id, `action` the name of one of its actions; by default all that do not
    only wait. Returns what `mend_by_chaos_mesh` returns; fails after `ends_within_s` seconds.
    """
    with closing(Fis(experiment, action, region)) as source:
        return current().follow("mend", source, "AWS FIS", float(ends_within_s))
