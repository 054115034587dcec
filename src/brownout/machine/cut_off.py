"""Cutting a node off from what its cluster is coordinated by, and from nothing else.

The members and clients still reach it. By hand it is undone so (`packet_filter`):

    nft delete table inet brownout_cut_off
"""

from brownout.machine.packet_filter import PacketFilter

__all__ = ["FILTER", "SCRIPTS", "left_on", "undo_on"]

FILTER = PacketFilter(
    act="cut_off",
    undone_by="reconnect",
    looks="coordination-cut",
    table="brownout_cut_off",
    state="cut off from its coordination",
    undone="reconnected",
)
#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = FILTER.programs
left_on, undo_on = FILTER.left_on, FILTER.undo_on
