"""The lab: a real database cluster on this machine, made of ordinary processes.

    from brownout.infra import lab

    cluster = lab.up("lab-mongodb")
    lab.down("lab-mongodb")

`lifecycle` brings labs up and down, `mending` puts right one that is there, `state` is what is on
disk, `mongodb` and `mongod` make a replica set. A lab survives the shell that made it.
"""

from brownout.infra.lab.foreseen import foreseen, with_nodes
from brownout.infra.lab.inspect import LabStatus, MemberStatus, logs, status
from brownout.infra.lab.lifecycle import down, ensure, up

__all__ = ["LabStatus", "MemberStatus", "down", "ensure", "foreseen", "logs", "status", "up"]
__all__ += ["with_nodes"]
