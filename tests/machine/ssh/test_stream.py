"""A command over there with its pipes here, in the manner of a local process."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sshd import Sshd
from tests.waiting import await_true

from brownout.base.errors import HostError
from brownout.machine.ssh.pool import connection_for
from brownout.machine.ssh.spec import Login
from brownout.machine.ssh.stream import LOST, Stream

PIPE = subprocess.PIPE


class Talk:
    """Starts commands over there; closes its pipes at the end."""

    def __init__(self, sshd: Sshd, log: Path) -> None:
        self.connection = connection_for(Login.model_validate(sshd.login()))
        self.log = log
        self.streams: list[Stream] = []

    def start(self, *command: str) -> Stream:
        stream = Stream(self.connection, command, stdin=PIPE, stdout=PIPE, stderr=str(self.log))
        self.streams.append(stream)
        return stream

    def close(self) -> None:
        for stream in self.streams:
            for end in (stream.stdin, stream.stdout):
                assert end is not None
                end.close()


@pytest.fixture
def talk(sshd: Sshd, tmp_path: Path) -> Iterator[Talk]:
    talk = Talk(sshd, tmp_path / "log")
    yield talk
    talk.close()


def ask(stream: Stream, line: bytes) -> bytes:
    assert stream.stdin is not None
    assert stream.stdout is not None
    stream.stdin.write(line)
    return stream.stdout.readline()


def test_a_command_is_talked_to_until_its_input_ends(talk: Talk) -> None:
    stream = talk.start("cat")

    assert ask(stream, b"one\n") == b"one\n"
    assert stream.poll() is None
    assert stream.stdin is not None
    stream.stdin.close()

    assert stream.wait(20) == 0
    assert stream.poll() == 0


def test_words_arrive_whole_and_errors_go_to_the_log(talk: Talk) -> None:
    body = 'printf "<%s>" "$@"; echo dying >&2; exit 3'
    stream = talk.start("/bin/sh", "-c", body, "sh", "it's", "$x \n", "")

    assert stream.stdout is not None
    assert stream.stdout.read() == b"<it's><$x \n><>"
    assert stream.wait(20) == 3
    assert talk.log.read_text() == "dying\n"


def test_its_id_and_start_are_those_of_the_command_itself(talk: Talk) -> None:
    stream = talk.start("sleep", "30")

    comm = Path(f"/proc/{stream.pid}/comm")
    # The shell that told the id becomes the command.
    await_true(lambda: comm.read_text() == "sleep\n")
    stat = Path(f"/proc/{stream.pid}/stat").read_text().rpartition(")")[2].split()
    assert int(stat[19]) == stream.started
    with pytest.raises(subprocess.TimeoutExpired):
        stream.wait(0.05)
    stream.terminate()
    assert stream.wait(20) == -15


def test_a_command_that_does_not_obey_can_be_killed(talk: Talk) -> None:
    stream = talk.start("/bin/sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done")
    assert stream.stdout is not None
    stream.stdout.readline()

    stream.terminate()
    stream.kill()

    assert stream.wait(20) == -9
    stream.kill()  # again: it is gone, and so be it


def test_a_broken_connection_ends_it_here_and_only_closes_its_input_there(
    talk: Talk, sshd: Sshd, tmp_path: Path
) -> None:
    end = tmp_path / "end"
    stream = talk.start("/bin/sh", "-c", 'cat >/dev/null; sleep 0.2; echo over > "$0"', str(end))

    sshd.cut()

    assert stream.wait(20) == LOST
    assert stream.stdout is not None
    assert stream.stdout.read() == b""
    assert f"ssh: the connection to {talk.connection.where} broke" in talk.log.read_text()
    await_true(end.exists)


def test_files_go_both_ways(talk: Talk, tmp_path: Path) -> None:
    source, there, back = tmp_path / "source", tmp_path / "there", tmp_path / "back"
    source.write_bytes(bytes(range(256)) * 10_000)

    body = 'cat > "$1"'
    to = Stream(talk.connection, ["/bin/sh", "-c", body, "sh", str(there)], stdin=str(source))
    assert (to.wait(30), to.errors) == (0, "")
    fro = Stream(talk.connection, ["cat", str(there)], stdout=str(back))
    assert fro.wait(30) == 0

    assert back.read_bytes() == source.read_bytes()


def test_a_command_that_is_not_there_says_so(talk: Talk) -> None:
    stream = talk.start("/no/such/program")

    assert stream.wait(20) == 127
    assert "/no/such/program" in talk.log.read_text()


def test_a_login_that_runs_nothing_says_what_it_said(tmp_path: Path) -> None:
    server = Sshd(tmp_path / "closed", more="ForceCommand echo closed for today >&2; exit 1\n")
    server.start()
    connection = connection_for(Login.model_validate(server.login()))
    try:
        with pytest.raises(HostError, match="runs no command: closed for today"):
            Stream(connection, ["true"])
    finally:
        connection.close()
        server.stop()
