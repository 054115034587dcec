"""The replication factor of a namespace, changed while it serves.

    set-config:context=namespace;id=…;replication-factor=3   to every node; changes nothing yet
    recluster:                                               the copies are made, or dropped

Nodes of different factors form no cluster, and what was begun with them stays half-done until a
node goes or comes. So nothing is formed anew before every node has the factor. It is not kept in
the configuration files: a node that is restarted has the one that is written there.
"""

import time
from collections.abc import Sequence

from brownout.base.errors import ClusterError
from brownout.databases.aerospike.objections import factor_in
from brownout.databases.aerospike.panel import Panel
from brownout.databases.aerospike.quiesce import recluster
from brownout.databases.aerospike.view import View, judge, stable_command
from brownout.databases.aerospike.waits import await_said, since
from brownout.machine.host import Proof

__all__ = ["factor", "set_factor"]

_EFFECTIVE = "effective_replication_factor"
#: A busy node reports the new factor a moment after the cluster has formed again.
_TAKES_EFFECT_S = 15.0


def factor(panel: Panel, namespace: str) -> int:
    """Return the factor that all nodes are set to; `ClusterError` where they are not alike."""
    by_node = {view.node: factor_in(view, namespace) for view in _views(panel, namespace)}
    factors = set(by_node.values())
    if len(factors) == 1 and None not in factors:
        return int(factors.pop() or 0)
    words = ", ".join(f"{name}: {value or 'silent'}" for name, value in by_node.items())
    raise ClusterError(f"replication-factor of `{namespace}`: found {words}, wanted one for all")


def set_factor(panel: Panel, namespace: str, value: int) -> Proof:
    """Give every node the factor and have it take effect; proven by what each says of it."""
    asked = time.monotonic()
    views = _views(panel, namespace)
    if _is_so(views, namespace, value) and judge(views, _stable(panel)).reached:
        return since(asked, {_EFFECTIVE: value}, already=True)
    silent = [view.error for view in views if view.error]
    if silent:
        raise ClusterError(f"no node is told another replication factor: {'; '.join(silent)}")
    command = f"set-config:context=namespace;id={namespace};replication-factor={value}"
    answers = {view.node: view.answers.get(command, view.error) for view in panel.views((command,))}
    if set(answers.values()) != {"ok"}:
        words = ", ".join(f"{name}: {answer}" for name, answer in answers.items())
        raise ClusterError(f"not every node takes {command}: {words}")
    proof = _formed_anew(panel)
    looks: list[list[View]] = []

    def holds() -> bool:
        looks.append(_views(panel, namespace))
        return _is_so(looks[-1], namespace, value)

    def otherwise() -> str:
        words = ", ".join(f"{view.node}: {_effective(view, namespace)}" for view in looks[-1])
        return f"{_EFFECTIVE}: found {words}, wanted {value} after recluster:"

    await_said(holds, otherwise, _TAKES_EFFECT_S)
    evidence = {**proof.evidence, _EFFECTIVE: value}
    if len(looks) == 1:
        return Proof(proof.effective_monotonic, proof.uncertainty_s, evidence)
    return since(proof.effective_monotonic - proof.uncertainty_s, evidence)


def _formed_anew(panel: Panel) -> Proof:
    try:
        return recluster(panel)
    except ClusterError as error:
        raise ClusterError(
            error.message,
            "if nodes of different factors have met, restart any node: only that ends it",
        ) from error


def _views(panel: Panel, namespace: str) -> list[View]:
    return panel.views((f"namespace/{namespace}", _stable(panel)))


def _stable(panel: Panel) -> str:
    return stable_command(len(panel.nodes), migrations=False)


def _effective(view: View, namespace: str) -> str:
    return view.error or view.namespaces.get(namespace, {}).get(_EFFECTIVE, "")


def _is_so(views: Sequence[View], namespace: str, value: int) -> bool:
    """Whether every node is set to `value`, and has as many copies, or all that nodes allow."""
    copies = str(min(value, len(views)))
    return all(
        factor_in(view, namespace) == value and _effective(view, namespace) == copies
        for view in views
    )
