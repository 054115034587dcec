"""Faults of LitmusChaos: a ChaosEngine is created in a Kubernetes cluster, and stopped.

What a Litmus fault breaks is in Litmus's hands: brownout sees to it that nothing else is broken,
that the inventory does not deny it (`guards.deny_acts: [litmus]`), and that the engine is stopped
whatever becomes of the run. `namespace`, `kubeconfig` and `context` say where; by default the
namespace `default` of the cluster that kubectl would ask, or that we are a pod of.
"""

import uuid
from typing import Any

from chaoslib.types import Configuration, Secrets

from brownout.faults.litmus import manifest as manifests
from brownout.faults.litmus.engines import Engines, Where
from brownout.session.activity import activity
from brownout.session.current import current

__all__ = ["run_chaos_engine", "stop_chaos_engine"]


@activity
def run_chaos_engine(
    manifest: str = "",
    name: str = "",
    experiment: str = "",
    service_account: str = "",
    env: dict = None,
    app_namespace: str = "",
    app_label: str = "",
    app_kind: str = "",
    namespace: str = "",
    kubeconfig: str = "",
    context: str = "",
    injected_within_s: float = 300.0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Create a ChaosEngine and wait until it injects, by its own word.

    From the file of a `manifest`, or of one `experiment` with its `service_account`, `env` and the
    application that it is about. An engine of that name that an earlier run made, and that is over,
    makes way; any other one is refused. Fails where nothing is injected in time. Undone by
    `stop_chaos_engine`, which the rollback does too.

    {"node": null, "effective": 24.1, "evidence": {"engine": "…", "seen": "event ChaosInject", …}}
    """
    if manifest:
        engine = manifests.from_file(manifest)
    else:
        app = {"appns": app_namespace, "applabel": app_label, "appkind": app_kind}
        engine = manifests.from_parts(name, experiment, service_account, env or {}, app)
    own = str(engine["metadata"].get("namespace") or "")
    where = Where(namespace or own or "default", kubeconfig, context)
    return _engines().run(where, engine, uuid.uuid4().hex, float(injected_within_s))


@activity
def stop_chaos_engine(
    name: str = "",
    manifest: str = "",
    namespace: str = "",
    kubeconfig: str = "",
    context: str = "",
    stopped_within_s: float = 600.0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Stop a ChaosEngine, by `name` or by its `manifest`, and wait until its operator has.

    Does nothing where it is over already, or gone. The object stays, for whoever reads it.
    """
    where, called = manifests.place(name, manifest, namespace)
    place = Where(where, kubeconfig, context)
    return _engines().stop(place, called, float(stopped_within_s))


def _engines() -> Engines:
    session = current()
    return session.faults.engines(session.interruption.must_stop)
