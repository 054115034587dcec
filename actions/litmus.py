"""Faults of LitmusChaos: a ChaosEngine is created in a Kubernetes cluster, and stopped.

What a Litmus fault breaks is in Litmus's hands: brownout sees to it that nothing else is broken,
that the inventory does not deny it (`guards.deny_acts: [litmus]`), and that the engine is stopped
whatever becomes of the run. `namespace`, `kubeconfig` and `context` say where; by default the
namespace `default` of the cluster that kubectl would ask, or that we are a pod of.

They are made from the faults of `brownout.faults.litmus`.
"""

from brownout.session.activity import actions_of

_MADE = actions_of(__name__)
globals().update(_MADE)
__all__ = sorted(_MADE)
