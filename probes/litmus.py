"""What LitmusChaos says of a ChaosEngine: the ChaosResult of one of its experiments.

The result is found by the name that Litmus gives it, `<engine>-<experiment>`. Litmus's verdict is
context beside ours: it says what its own probes saw, not what the load felt.
"""

from typing import Any

from chaoslib.types import Configuration, Secrets

from brownout.base.errors import ClusterError
from brownout.faults.litmus import manifest as manifests
from brownout.faults.litmus.engines import Where, await_completed, result_of
from brownout.session.activity import activity
from brownout.session.current import current

__all__ = ["chaos_result", "phase", "probe_success_percentage", "verdict", "wait_until_completed"]


@activity
def chaos_result(
    engine: str = "",
    experiment: str = "",
    manifest: str = "",
    namespace: str = "",
    kubeconfig: str = "",
    context: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Return what the ChaosResult says.

    `{"phase": "Completed", "verdict": "Pass", "probe_success_percentage": 100.0, "error": "",
    "probes": {"http": "Passed"}, "targets": {"pod/web-0": "reverted"}}`; fails where there is none.
    """
    return _result(engine, experiment, manifest, namespace, kubeconfig, context)


@activity
def verdict(
    engine: str = "",
    experiment: str = "",
    manifest: str = "",
    namespace: str = "",
    kubeconfig: str = "",
    context: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> str:
    """Return Litmus's verdict: Pass, Fail, Error, Stopped or Awaited."""
    result = _result(engine, experiment, manifest, namespace, kubeconfig, context)
    return str(result["verdict"])


@activity
def phase(
    engine: str = "",
    experiment: str = "",
    manifest: str = "",
    namespace: str = "",
    kubeconfig: str = "",
    context: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> str:
    """Return the phase: Running, Completed, Completed_With_Probe_Failure, Stopped or Error."""
    return str(_result(engine, experiment, manifest, namespace, kubeconfig, context)["phase"])


@activity
def probe_success_percentage(
    engine: str = "",
    experiment: str = "",
    manifest: str = "",
    namespace: str = "",
    kubeconfig: str = "",
    context: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> float:
    """Return how many of a hundred of its probes passed; fails while that is awaited.

    For a fault of Litmus's own without probes that is 100 for a pass: it says nothing.
    """
    result = _result(engine, experiment, manifest, namespace, kubeconfig, context)
    share = result["probe_success_percentage"]
    if share is None:
        raise ClusterError("Litmus says no percentage yet", "wait by `wait_until_completed` first")
    return float(share)


@activity
def wait_until_completed(
    engine: str = "",
    manifest: str = "",
    namespace: str = "",
    kubeconfig: str = "",
    context: str = "",
    timeout_s: float = 600.0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Wait until the operator says that a ChaosEngine is completed, or stopped.

    Fails after `timeout_s` seconds. Returns `{"engine_status": "completed", "waited_s": 41.2,
    "verdicts": {"web-pod-delete": "Pass"}}`.
    """
    space, name = manifests.place(engine, manifest, namespace)
    where = Where(space, kubeconfig, context)
    return await_completed(where, name, float(timeout_s), current().interruption.must_stop)


def _result(
    engine: str, experiment: str, manifest: str, namespace: str, kubeconfig: str, context: str
) -> dict[str, Any]:
    space, name = manifests.place(engine, manifest, namespace)
    chosen = experiment or manifests.only_experiment(manifest)
    return result_of(Where(space, kubeconfig, context), name, chosen)
