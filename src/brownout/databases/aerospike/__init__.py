"""Aerospike: the adapter, on the nodes' own info protocol.

`adapter` is what every other part uses, `panel` asks all nodes, `view` what a node says and what
follows from all of them, `figures` sums it up, `choosing` who is meant by a target, `scenarios`
what can be done at all, `info` how a node is asked, `conf` what its configuration file says and
`storage` where it keeps its data. `quiescing` takes a node out of service, `idle` waits until it
serves nobody.

`resizing` is what can be done while it serves: `joining` and `leaving` with what nodes know of each
other (`mesh`), `factor` and `speed`, what speaks against it (`objections`), what each node holds
(`holding`) and on which rack (`racks`). `canary` is the official client, as an application has it.
"""

from brownout.base.errors import Unsupported
from brownout.databases.adapter import Adapter
from brownout.databases.aerospike.adapter import AerospikeAdapter

__all__ = ["AerospikeAdapter", "of_aerospike"]


def of_aerospike(adapter: Adapter) -> AerospikeAdapter:
    """Return the adapter, if it is one of Aerospike; `Unsupported` otherwise."""
    if isinstance(adapter, AerospikeAdapter):
        return adapter
    raise Unsupported(f"this asks an Aerospike cluster, and {adapter.engine()} is none")
