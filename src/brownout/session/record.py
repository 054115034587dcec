"""Write run.json: what was run, on what, with which versions, settings and limits."""

import os
import platform
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from brownout.base.binary import loadgen_version
from brownout.databases.adapter import Adapter, Electing, Wording
from brownout.inventory.model import Cluster, Node
from brownout.run.directory import RunDirectory
from brownout.session.options import SETTINGS
from brownout.session.plan import Plan

__all__ = ["cluster_of", "retarget", "write"]

#: Settings that change a fault or its measures and stand nowhere else in the record.
_ALSO_VARIABLES = ("canary", "milestone_limit_s")


def write(
    directory: RunDirectory, plan: Plan, cluster: Cluster, adapter: Adapter, target: Node
) -> None:
    """Write the record of a run that is about to begin; it holds no secret."""
    directory.write_metadata(
        {
            "versions": _versions(adapter),
            "host": _host(),
            "seed": plan.options.seed,
            "experiment": _experiment(plan, target),
            "cluster": cluster_of(cluster, adapter),
            "workload": plan.workload.public(),
            "settings": asdict(plan.settings),
            "limits": [limit.as_dict() for limit in plan.limits],
            "dropped_limits": [limit.as_dict() for limit in plan.dropped_limits],
        }
    )


def retarget(directory: RunDirectory, target: Node) -> None:
    """Write that another node than planned is the target: its role has moved."""
    data = directory.read_metadata()
    directory.write_metadata({**data, "experiment": {**data["experiment"], "target": target.name}})


def _versions(adapter: Adapter) -> dict[str, str]:
    return {
        "brownout": version("brownout"),
        "python": platform.python_version(),
        "chaostoolkit": version("chaostoolkit"),
        "chaostoolkit-lib": version("chaostoolkit-lib"),
        "generator": loadgen_version(),
        "server": adapter.engine(),
        **_release(),
    }


def _release() -> dict[str, str]:
    """The user's own release under test, as the starter of the run names it."""
    release = os.environ.get("BROWNOUT_RELEASE", "").strip()
    return {"release": release[:100]} if release else {}


def _host() -> dict[str, Any]:
    """The machine the load is driven from."""
    return {
        "name": platform.node(),
        "system": platform.platform(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
    }


def _experiment(plan: Plan, target: Node) -> dict[str, Any]:
    return {
        "name": plan.scenario,
        "title": plan.title,
        "ref": plan.ref,
        "needs": list(plan.needs),
        "mode": plan.mode,
        "target": target.name,
        "select": plan.options.target,
        "variables": _variables(plan),
        "method": list(plan.method),
    }


def _variables(plan: Plan) -> dict[str, Any]:
    """The experiment's own variables as this run has them; secrets are not among them."""
    return {
        name: value
        for name, value in sorted(plan.variables.items())
        if (name not in SETTINGS or name in _ALSO_VARIABLES) and not isinstance(value, Mapping)
    }


def cluster_of(cluster: Cluster, adapter: Adapter) -> dict[str, Any]:
    """Return what run.json says of the cluster."""
    return {
        "name": cluster.name,
        "database": cluster.database,
        "engine": _engine(cluster, adapter),
        "managed": cluster.atlas is not None,
        "members": len(cluster.nodes),
        "nodes": [{"name": node.name, "address": node.address} for node in cluster.nodes],
        "spares": [{"name": node.name, "address": node.address} for node in cluster.spares],
        "environment": cluster.environment,
        "lab": cluster.lab is not None,
        "stand_in": cluster.lab is not None and cluster.lab.stand_in,
        "price": cluster.price.model_dump() if cluster.price else None,
        "failure_detection": _failure_detection(adapter),
        "roles": _role_words(adapter),
    }


def _failure_detection(adapter: Adapter) -> dict[str, Any] | None:
    """Return by which setting the nodes count a silent primary as gone, where they elect one."""
    setting = adapter.failure_detection() if isinstance(adapter, Electing) else None
    return None if setting is None else asdict(setting)


def _role_words(adapter: Adapter) -> dict[str, str] | None:
    """Return what the database calls the two roles, where its nodes elect a primary."""
    if isinstance(adapter, Electing) and isinstance(adapter, Wording):
        return dict(adapter.role_words())
    return None


def _engine(cluster: Cluster, adapter: Adapter) -> str:
    """Return what runs; of a lab with an API of ours also that this is not Atlas."""
    local = cluster.lab is not None and cluster.atlas is not None
    return adapter.engine() + (" behind a local Atlas API" if local else "")
