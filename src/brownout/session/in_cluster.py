"""The claim in the cluster of a run or of a load by itself, beside the one on this machine."""

from collections.abc import Callable
from pathlib import Path

from brownout.base.errors import BrownoutError, ConfigurationError, Refused
from brownout.databases.adapter import Adapter
from brownout.faults.open_runs import Claim
from brownout.load.cluster_claim import NAMESPACE, ClusterClaim, Holder
from brownout.load.workload import Workload

__all__ = ["claim_of", "holder_of", "take"]

Say = Callable[[str], None]


def claim_of(adapter: Adapter, workload: Workload, run: str, token: str) -> ClusterClaim:
    """Return the claim in the cluster of `adapter` of a run with `workload`; nothing is asked."""
    spec = workload.to_spec(directory=Path(), seed=1, writer=run, **adapter.load_spec())
    return ClusterClaim(spec, [NAMESPACE, workload.namespace], run, token)


def holder_of(adapter: Adapter, workload: Workload) -> Holder | None:
    """Return which run of another machine has the cluster; None if there is none.

    Raises `BrownoutError` where that cannot be found out.
    """
    return claim_of(adapter, workload, "", "").look()


def take(
    adapter: Adapter, workload: Workload, held: Claim, say: Say, lost: Callable[[Holder], None]
) -> ClusterClaim | None:
    """Take the cluster for the run that has `held` on this machine; None where it keeps no claim.

    `lost` is called where another run has taken it meanwhile. Raises `Refused` where one has it.
    """
    try:
        claim = claim_of(adapter, workload, Path(held.run).name, held.token)
        claim.take(lost)
    except (Refused, ConfigurationError):
        raise
    except BrownoutError as error:
        say(f"runs of other machines are not kept from this cluster: {error.message}")
        return None
    return claim
