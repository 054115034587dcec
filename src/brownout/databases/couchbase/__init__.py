"""Couchbase: tried against CouchbaseMock only, one process that plays the nodes of a cluster.

`adapter` joins the parts: `access` (how a node is reached), `link` (one node's REST API), `view`
(what one node says of the bucket and its vbuckets), `milestones` (judging those, pure) and
`adapter` (which says why no fault is offered). `options` is what a workload may say, `lab` starts
a mock.
"""

from collections.abc import Callable

from brownout.databases.couchbase.grants import GRANTS
from brownout.databases.couchbase.lab.settings import CouchbaseLab
from brownout.databases.couchbase.options import CouchbaseOptions, reading
from brownout.inventory.database import Database, LabKind, later

__all__ = ["COUCHBASE"]


# Inventories are read with this, so what takes time to import is imported when it is called.


def _fetch(_: CouchbaseLab, progress: Callable[[str], None]) -> None:
    from brownout.databases.couchbase.lab.server import fetch

    fetch(progress)


COUCHBASE = Database(
    name="couchbase",
    title="Couchbase",
    driver="couchbase",
    adapter="brownout.databases.couchbase.adapter:CouchbaseAdapter",
    options=CouchbaseOptions,
    reading=reading,
    most_bytes=20 * 2**20 - 4096,  # Couchbase's limit of a value, less what is around it
    check_target=later("brownout.databases.couchbase.view:TARGETS.check"),
    labs={
        "couchbase": LabKind(
            settings=CouchbaseLab,
            engine="brownout.databases.couchbase.lab.cluster",
            fetch=_fetch,
        )
    },
    grants=GRANTS,
    lab_server=later("brownout.databases.couchbase.lab.server:find_server"),
)
