"""Aerospike: the adapter, on the nodes' own info protocol.

`adapter` is what every other part uses, `panel` asks all nodes, `view` what a node says and what
follows from all of them, `figures` sums it up, `choice` who is meant by a target, `scenarios`
what can be done at all, `info` how a node is asked, `conf` what its configuration file says and
`storage` where it keeps its data. `quiesce` takes a node out of service, `idle` waits until it
has no clients. `options` is what a workload may say, `lab` makes clusters of processes here.

`resize` is what can be done while it serves: `join` and `leave` with what nodes know of each
other (`mesh`), `factor` and `speed`, what speaks against it (`objections`), what each node holds
and on which rack (`racks`).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from brownout.databases.aerospike.grants import GRANTS
from brownout.databases.aerospike.lab.settings import AerospikeLab
from brownout.databases.aerospike.options import AerospikeOptions, reading
from brownout.inventory.database import Database, Image, LabKind, Operator, Server, later

__all__ = ["AEROSPIKE"]


# Inventories are read with this, so what takes time to import is imported when it is called.


def _find_server() -> Path:
    from brownout.databases.aerospike.lab.server import find_server

    return find_server().program


def _of_resource(resource: Mapping[str, Any]) -> dict[str, Any]:
    """Its operator has the nodes' whole configuration in the resource."""
    config: Mapping[str, Any] = (resource.get("spec") or {}).get("aerospikeConfig") or {}
    names = [str(one["name"]) for one in config.get("namespaces") or [] if "name" in one]
    return {"options": {"namespace": names[0]}} if names else {}


AEROSPIKE = Database(
    name="aerospike",
    title="Aerospike",
    driver="aerospike",
    extra="aerospike",
    adapter="brownout.databases.aerospike.adapter:AerospikeAdapter",
    canary="aerospike_client.py",
    options=AerospikeOptions,
    reading=reading,
    most_bytes=8 * 2**20,  # `max-record-size` as a server comes
    check_target=later("brownout.databases.aerospike.choice:check"),
    serves_what_it_has=True,
    labs={
        "aerospike": LabKind(
            settings=AerospikeLab,
            engine="brownout.databases.aerospike.lab.cluster",
        )
    },
    open_request=b"\x02\x01\x00\x00\x00\x00\x00\x0bstatistics\n",  # an info request
    grants=GRANTS,
    lab_server=_find_server,
    census=later("brownout.databases.aerospike.census:census"),
    server=Server(
        program="asd",
        service="aerospike",
        clients=("aql", "asadm", "asinfo"),
        port=3000,
        config_file="/etc/aerospike/aerospike.conf",
        images=(
            Image(
                words=("aerospike", "asd"),
                process="asd",
                config_file="/etc/aerospike/aerospike.conf",
            ),
        ),
        hints=("# options: {namespace: …}",),
    ),
    operators=(
        Operator(
            kind="aerospikecluster",
            path="aerospikeclusters",
            group="/apis/asdb.aerospike.com/v1",
            rack_label="aerospike.com/rack-id",
            connection=_of_resource,
        ),
    ),
    variables={
        "migrate_threads": "Aerospike: threads that move data; 0 leaves them as they are",
        "migrate_sleep": "Aerospike: µs between two records that move; -1 leaves it as it is",
        "migrate_max_num_incoming": "Aerospike: partitions taken in at once; 0 leaves it as it is",
        "quiesced": "whether each node is quiesced first (Aerospike Enterprise)",
    },
)
