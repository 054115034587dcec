"""Leaving a node little bandwidth: what exceeds a rate is dropped, in each direction for itself.

That polices and does not shape: nothing waits in a queue of ours, and TCP slows down because its
packets are lost. By hand it is undone so (`packet_filter`):

    nft delete table inet brownout_bandwidth; nft delete table netdev brownout_bandwidth
"""

from brownout.machine.packet_filter import PacketFilter

__all__ = ["FILTER", "SCRIPTS", "left_on", "undo_on"]

FILTER = PacketFilter(
    act="bandwidth",
    undone_by="full_bandwidth",
    looks="bandwidth-limited",
    table="brownout_bandwidth",
    state="left with little bandwidth",
    undone="given its bandwidth back",
    silent=True,
    sample="limit rate over 125 kbytes/second",
    allowed="*-*-rate",
)
#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = FILTER.programs
left_on, undo_on = FILTER.left_on, FILTER.undo_on
