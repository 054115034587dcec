"""A MongoDB replica set on loopback with a local Atlas Administration API in front of it."""

from pathlib import Path

from brownout.cluster.model import Cluster, LabSpec
from brownout.infra.lab import mongodb
from brownout.infra.lab.atlas_api import process
from brownout.infra.lab.engine import Progress
from brownout.infra.lab.state import directory as directory_of

__all__ = ["await_whole", "form", "lay_out"]


def lay_out(cluster: Cluster, spec: LabSpec, directory: Path) -> Cluster:
    """Write what the members and the API need; return the cluster with all of them."""
    made = mongodb.lay_out(cluster, spec, directory)
    return made.model_copy(update={"atlas": process.lay_out(directory, cluster.name, spec)})


def form(cluster: Cluster, spec: LabSpec, progress: Progress) -> None:
    """Make the members one set, then start the API."""
    mongodb.form(cluster, spec, progress)
    progress("starting the local Atlas API: it is brownout's, the replica set behind it is real")
    process.start(directory_of(cluster.name))


def await_whole(cluster: Cluster, progress: Progress) -> None:
    """Wait until the set is whole; an API that is gone, or thinks otherwise, is started anew."""
    directory = directory_of(cluster.name)
    if not process.idle(directory):
        progress("the local Atlas API is not idle: it is started anew")
        process.stop(directory)
        mongodb.await_whole(cluster, progress)
        process.start(directory)
    mongodb.await_whole(cluster, progress)
