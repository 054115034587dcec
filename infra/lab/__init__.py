"""The lab: a real database cluster on this machine, made of ordinary processes.

    from brownout.infra import lab

    cluster = lab.up("lab-NAME")
    lab.down("lab-NAME")

`lifecycle` brings labs up and down, `repair` puts right one that is there, `inspect` looks at it.
What its members are is the database's own (`brownout.databases.lab`). A lab survives the shell that
made it.
"""

from brownout.infra.lab.foreseen import foreseen, with_nodes
from brownout.infra.lab.inspect import LabStatus, MemberStatus, keep_logs, logs, status
from brownout.infra.lab.lifecycle import down, ensure, up

__all__ = ["LabStatus", "MemberStatus", "down", "ensure", "foreseen", "keep_logs", "logs"]
__all__ += ["status", "up", "with_nodes"]
