"""What is asked of the cluster."""

from typing import Any

from chaoslib.types import Configuration, Secrets

from brownout.base.errors import ClusterError, ConfigurationError, Unsupported
from brownout.databases.adapter import Electing
from brownout.databases.milestones import still_unmet
from brownout.session.activity import activity
from brownout.session.current import current
from brownout.session.leaderless import await_no_primary, await_promotion

__all__ = ["cluster_is_whole", "wait_until", "wait_until_no_primary", "wait_until_promoted"]

MILESTONES = ("changed", "rejoined", "redundant")

_NOT_YET = {
    "changed": "did not notice the fault",
    "rejoined": "did not have all its members back",
    "redundant": "was not redundant again",
}


@activity
def cluster_is_whole(configuration: Configuration = None, secrets: Secrets = None) -> bool:
    """Say whether every member is there, healthy and in step.

    After the method this is the first probe of the hypothesis: it waits for redundancy and for
    the load to hold, stops the load and reads the ledger back.
    """
    session = current()
    session.finish()
    return not still_unmet(session.adapter, "whole")


@activity
def wait_until(
    state: str,
    timeout_s: float = 300.0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Wait until the cluster has `changed` (saw the fault), `rejoined` or is `redundant` again.

    Fails after `timeout_s` seconds, or where the cluster cannot have changed because nothing was
    broken. Returns `{"state": "redundant", "last_no": 31.2, "first_yes": 31.3}`, in seconds since
    the load began.
    """
    if state not in MILESTONES:
        raise ConfigurationError(f"state: found {state!r}, wanted one of {', '.join(MILESTONES)}")
    session = current()
    crossing = session.await_milestone(state, float(timeout_s))
    if crossing is None:
        raise ClusterError(
            f"the cluster {_NOT_YET[state]} within {float(timeout_s):.0f} s",
            "look at the cluster's own log, or raise `timeout_s`",
        )
    return crossing


@activity
def wait_until_no_primary(
    timeout_s: float = 60.0, configuration: Configuration = None, secrets: Secrets = None
) -> dict[str, Any]:
    """Wait until no member that answers is primary, as where a majority is lost.

    Fails after `timeout_s` seconds, and while a member is silent that this run cuts off from its
    clients, as which we ask. Returns how long it took and what the members are then:
    `{"waited_s": 2.1, "members": {"n1": "SECONDARY", "n2": "unreachable"}}`.
    """
    session = current()
    stopped, hidden = session.interruption.must_stop, session.faults.hidden
    answer = await_no_primary(session.adapter, float(timeout_s), stopped, hidden)
    if answer is None:
        raise ClusterError(
            f"a member is still primary, or none answers, after {float(timeout_s):.0f} s",
            "the members that are down may not be a majority",
        )
    return answer


@activity
def wait_until_promoted(
    node: str = "target",
    timeout_s: float = 120.0,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> dict[str, Any]:
    """Wait until another node says that it is primary, whatever `node` itself still says.

    Fails after `timeout_s` seconds. Returns how long it took and which one it is:
    `{"waited_s": 21.4, "primary": "n2"}`.
    """
    session = current()
    old = session.node(node)
    if not isinstance(session.adapter, Electing):
        raise Unsupported(f"{session.adapter.engine()} elects no primary")
    stopped = session.interruption.must_stop
    answer = await_promotion(session.adapter, old, float(timeout_s), stopped)
    if answer is None:
        raise ClusterError(
            f"no other node than `{old.name}` is primary after {float(timeout_s):.0f} s",
            "see that another one may be promoted, or raise `timeout_s`",
        )
    return answer
