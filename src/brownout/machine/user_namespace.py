"""Starting a server that refuses root, where we are root: as the user `nobody` of a namespace.

Outside of it the process and its files are still root's, so that nothing has to change hands, and
a Python or a lab below root's home is within its reach.
"""

import os
import subprocess

__all__ = ["enter", "why_not"]

#: Id of the user `nobody`; programs look their own user up in /etc/passwd.
_NOBODY = 65534
_ENTER = ("unshare", "--user", f"--map-user={_NOBODY}", f"--map-group={_NOBODY}")


def enter() -> tuple[str, ...]:
    """Return what goes before a command; nothing where we are not root."""
    return _ENTER if os.geteuid() == 0 else ()


def why_not() -> str:
    """Return why it cannot be done here; empty if it can, or need not."""
    if not enter():
        return ""
    try:
        done = subprocess.run([*enter(), "true"], capture_output=True, text=True, check=False)
    except OSError as error:
        return f"`unshare` of util-linux does not start: {error.strerror}"
    return done.stderr.strip() if done.returncode else ""
