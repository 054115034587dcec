"""Where the load of a cluster is driven from: here, or the load host that its inventory names."""

from pathlib import Path

from brownout.cluster.model import Cluster
from brownout.load.place import Place

__all__ = ["collect_left", "place_for"]


def place_for(cluster: Cluster, directory: Path) -> Place | None:
    """Return the place of the generator of the run `directory`; None means this machine."""
    if cluster.load is None:
        return None
    # Only an inventory with a load host needs what ssh needs.
    from brownout.load.remote import LoadSettings, RemotePlace

    if not isinstance(cluster.load, LoadSettings) or cluster.load.host is None:
        return None
    return RemotePlace(cluster.load.host, directory)


def collect_left(cluster: Cluster, directory: Path) -> bool:
    """End and fetch what a run that died left on its load host; return whether there was any."""
    if cluster.load is None:
        return False
    from brownout.load.remote import LoadSettings, recover

    if not isinstance(cluster.load, LoadSettings) or cluster.load.host is None:
        return False
    return recover(cluster.load.host, directory)
