"""Losing a share of a node's packets, as on a bad link: TCP sends them again, so answers come late.

What goes out is lost where the sender cannot notice it (`packet_filter`). Of several packets that
the kernel handles as one (segmentation offload), all or none are lost. By hand it is undone so:

    nft delete table inet brownout_packet_loss; nft delete table netdev brownout_packet_loss
"""

from brownout.machine.packet_filter import PacketFilter

__all__ = ["FILTER", "SCRIPTS", "left_on", "undo_on"]

FILTER = PacketFilter(
    act="packet_loss",
    undone_by="deliver",
    looks="packets-lost",
    table="brownout_packet_loss",
    state="losing packets",
    undone="losing none",
    silent=True,
    sample="numgen random mod 10000 < 1",
    allowed="*-*-share|*-*-all",
)
#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = FILTER.programs
left_on, undo_on = FILTER.left_on, FILTER.undo_on
