"""Nodes on other machines, reached by ssh: `docs/ssh.md`.

    host ──▶ process, signals, launch, storage, reboot ──▶ commands ──▶ connection ──▶ sshd
    (acts)   (one script each, pure decisions beside)      (Runner)     (kept, made again)

Everything runs as small shell scripts on the node: nothing has to be installed there.
"""

from brownout.machine.ssh.host import SshHost
from brownout.machine.ssh.spec import SshSpec

__all__ = ["SshHost", "SshSpec"]
