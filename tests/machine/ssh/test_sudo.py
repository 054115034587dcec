"""What needs root runs by `sudo -n`, and a sudo that does not let us says so."""

import getpass
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.sshd import WHY_NOT, Sshd

from brownout.base.errors import HostError
from brownout.machine.commands import script
from brownout.machine.ssh.connection import SshRunner
from brownout.machine.ssh.pool import close_all, connection_for
from brownout.machine.ssh.spec import Login

RunnerWith = Callable[[str], SshRunner]


@pytest.fixture
def runner_with(tmp_path: Path) -> Iterator[RunnerWith]:
    """Make a runner on a machine whose sudo is the given script; none at all if it is empty."""
    if WHY_NOT:
        pytest.skip(WHY_NOT)
    with ExitStack() as servers:
        servers.callback(close_all)

        def make(sudo: str) -> SshRunner:
            programs = tmp_path / "bin"
            programs.mkdir()
            (programs / "sh").symlink_to("/bin/sh")
            if sudo:
                (programs / "sudo").write_text(f"#!/bin/sh\n{sudo}\n")
                (programs / "sudo").chmod(0o755)
            path = f"{programs}:{os.environ['PATH']}" if sudo else str(programs)
            server = Sshd(tmp_path / "sshd", {"PATH": path}).start()
            servers.callback(server.stop)
            login = Login.model_validate(server.login(user=getpass.getuser()))
            return SshRunner(connection_for(login), sudo=True)

        yield make


def test_a_script_runs_by_sudo_without_a_password_prompt(runner_with: RunnerWith) -> None:
    runner = runner_with('[ "$1 $2" = "-n --" ] || exit 9; shift 2; BY=sudo exec "$@"')

    assert runner.run(script("echo $BY")).output == "sudo\n"


@pytest.mark.parametrize(
    "words",
    [
        "sudo: a password is required",
        "sudo: sorry, you must have a tty to run sudo",
        "ann is not in the sudoers file.",
        "Sorry, user ann is not allowed to execute '/bin/sh -s' as root on db1.",
    ],
)
def test_a_sudo_that_refuses_is_named_with_the_line_that_would_allow_it(
    runner_with: RunnerWith, words: str
) -> None:
    runner = runner_with(f'echo "{words}" >&2; exit 1')

    with pytest.raises(HostError, match=r"may not use sudo without a password") as refused:
        runner.run(script("true"))

    assert words in str(refused.value)
    assert f"`{getpass.getuser()} ALL=(root) NOPASSWD: /bin/sh -s`" in str(refused.value)


def test_a_machine_without_sudo_is_named(runner_with: RunnerWith) -> None:
    runner = runner_with("")

    with pytest.raises(HostError, match=r"127\.0\.0\.1 .* has no sudo; install it, or log in as"):
        runner.run(script("true"))


def test_a_script_that_fails_under_sudo_fails_as_itself(runner_with: RunnerWith) -> None:
    runner = runner_with('shift 2; exec "$@"')

    assert runner.run(script("echo no >&2; return 1")).status == 1
