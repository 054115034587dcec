"""Cutting a node off in one direction: it hears others and is not heard, or the other way round.

Between members that is a half-open link. Towards clients it is a black hole: no connection is
refused or reset, everything times out. By hand it is undone so (`packet_filter`):

    nft delete table inet brownout_one_way
"""

from brownout.machine.packet_filter import PacketFilter

__all__ = ["FILTER", "SCRIPTS", "left_on", "undo_on"]

FILTER = PacketFilter(
    act="one_way",
    undone_by="both_ways",
    looks="cut-one-way",
    table="brownout_one_way",
    state="cut off in one direction",
    undone="reached in both directions",
    allowed="in-*-all|out-*-all",
)
#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = FILTER.programs
left_on, undo_on = FILTER.left_on, FILTER.undo_on
