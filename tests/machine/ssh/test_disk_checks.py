"""What a login with least rights may have done to a node's disk, by the checks of its helpers."""

import subprocess

import pytest

from brownout.machine import disk_errors, disk_full, disk_slow, volume_slow
from brownout.machine.ssh.helpers import _LIBRARY

_SLOW = disk_slow.SCRIPTS["disk-slow"].check
_FAIL = disk_errors.SCRIPTS["disk-errors"].check
_FILL = disk_full.SCRIPTS["fill"].check
_VOLUME = volume_slow.SCRIPTS["slow-volume"].check
#: No process has this id.
_PID = "4242424"


@pytest.mark.parametrize(
    ("check", "arguments", "allowed"),
    [
        (_SLOW, ("n1-1", "?fsync,?msync", "delay_enter=50000", "60", _PID), True),
        (_SLOW, ("n2-1", "?fsync", "delay_enter=50000", "60", _PID), False),
        (_SLOW, ("n1-1", "fsync;reboot", "delay_enter=50000", "60", _PID), False),
        (_SLOW, ("n1-1", "?fsync", "error=EIO:when=1+1", "60", _PID), False),
        (_SLOW, ("n1-1", "?fsync", "delay_enter=50000", "60", "1"), False),
        (_FAIL, ("n1-1", "?fsync", "error=EIO:when=1+2", "60", _PID), True),
        (_FAIL, ("n1-1", "?fsync", "error=EIO:when=1+x", "60", _PID), False),
        (_FAIL, ("n1-1", "?fsync", "retval=0", "60", _PID), False),
        (_FILL, ("n1-1", "0", "60", "2049", "/srv", _PID), True),
        (_FILL, ("n1-1", "0", "60", "2049", "/var", _PID), False),
        (_FILL, ("n1-1", "0", "60", "2049", "/", _PID), False),
        (_VOLUME, ("n1-1", "60", "0", "50"), True),
        (_VOLUME, ("n2-1", "60", "0", "50"), False),
        (_VOLUME, ("n1-1", "60", "0", "50 8:0 0"), False),
        (_VOLUME, ("n1-1", "60", "0", "50", "2049", "/var"), False),
        (_VOLUME, ("n1-1", "60", "0", "50", "2049", "/srv"), False),
    ],
)
def test_a_helper_allows_what_is_about_its_node_and_nothing_else(
    check: str, arguments: tuple[str, ...], allowed: bool
) -> None:
    script = (
        "may_node=n1-1 may_directories=/srv/db may_how=pid_file may_value=/nonexistent\n"
        f'may_server_directory=\n{_LIBRARY}\nmay() {{\n{check}\n}}\nmay "$@"\n'
    )
    done = subprocess.run(["/bin/sh", "-c", script, "sh", *arguments], capture_output=True)
    assert (done.returncode == 0) == allowed
