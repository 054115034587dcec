"""A MongoDB replica set on loopback with a local Atlas Administration API in front of it.

Each member has the tags that Atlas gives its own, so that a driver knows its region.
"""

from pathlib import Path

from brownout.databases.lab.engine import Progress
from brownout.databases.mongodb.adapter import MongoAdapter
from brownout.databases.mongodb.lab import replica_set
from brownout.databases.mongodb.lab.atlas_api import process
from brownout.databases.mongodb.lab.atlas_api.book import PROVIDER, region_of
from brownout.databases.mongodb.lab.settings import AtlasLab
from brownout.databases.mongodb.membership import Document
from brownout.inventory.labs import directory as directory_of
from brownout.inventory.model import Cluster

__all__ = ["await_whole", "form", "lay_out"]


def lay_out(cluster: Cluster, spec: AtlasLab, directory: Path) -> Cluster:
    """Write what the members and the API need; return the cluster with all of them."""
    laid_out = replica_set.lay_out(cluster, spec.of_one_set(), directory)
    api = process.lay_out(directory, cluster.name, spec)
    return laid_out.model_copy(update={"atlas": api, "lab": spec})


def form(cluster: Cluster, spec: AtlasLab, progress: Progress) -> None:
    """Make the members one set, then start the API."""
    replica_set.form(cluster, spec.of_one_set(), progress)
    _tag(cluster)
    progress("starting the local Atlas API: it is brownout's, the replica set behind it is real")
    process.start(directory_of(cluster.name))


def _tag(cluster: Cluster) -> None:
    """Give each member Atlas's tags `provider` and `region`, by another configuration."""
    regions = {node.address: region_of(node) for node in cluster.nodes}

    def tagged(config: Document) -> Document | None:
        members = [
            {**member, "tags": {"provider": PROVIDER, "region": regions[member["host"]]}}
            for member in config["members"]
        ]
        if members == config["members"]:
            return None
        return {**config, "version": config["version"] + 1, "members": members}

    with MongoAdapter(cluster) as adapter:
        adapter.configure(tagged)


def await_whole(cluster: Cluster, progress: Progress) -> None:
    """Wait until the set is whole; an API that is gone, or thinks otherwise, is started anew."""
    directory = directory_of(cluster.name)
    if not process.idle(directory):
        progress("the local Atlas API is not idle: it is started anew")
        process.stop(directory)
        replica_set.await_whole(cluster, progress)
        process.start(directory)
    replica_set.await_whole(cluster, progress)
