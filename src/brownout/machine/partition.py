"""Cutting one node off from others, both ways, as where a cable was pulled.

Open connections hang and new ones time out; everybody else still reaches the node. By hand it is
undone so (`packet_filter`):

    nft delete table inet brownout
"""

from brownout.machine.packet_filter import PacketFilter

__all__ = ["FILTER", "SCRIPTS", "left_on", "undo_on"]

FILTER = PacketFilter(
    act="partition",
    undone_by="join",
    looks="partitioned",
    table="brownout",
    state="cut off",
    undone="joined",
)
#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = FILTER.programs
left_on, undo_on = FILTER.left_on, FILTER.undo_on
