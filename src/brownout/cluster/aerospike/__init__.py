"""Aerospike: the adapter, on the nodes' own info protocol.

`adapter` is what every other part uses, `view` what a node says and what follows from all of them,
`info` how a node is asked, `storage` where it keeps its data.
"""

from brownout.cluster.aerospike.adapter import AerospikeAdapter

__all__ = ["AerospikeAdapter"]
