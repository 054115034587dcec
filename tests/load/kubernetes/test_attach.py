"""A pod's process as a process of ours: the real generator behind a server of the streams."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from tests.fuzzing import damaged, fuzzed
from tests.load.kubernetes.pod_server import PodServer
from tests.loadgen.driving import Server, specification, verified
from tests.waiting import await_true

from brownout.base.binary import find_loadgen
from brownout.base.errors import GeneratorError, HostError
from brownout.load.channel import Channel, Event
from brownout.load.kubernetes import attach
from brownout.load.kubernetes.attach import LOST, Attached
from brownout.load.kubernetes.files import PodFiles

V4 = ("v4.channel.k8s.io",)


class Driven:
    """A generator in a pod and the channel to it; `became` is what is said of a lost pod."""

    def __init__(self, directory: Path, main: list[str] | None = None, **more: Any) -> None:
        self.depot = directory / "pod" / "depot"
        generator = [str(find_loadgen()), "run", "--depot", str(self.depot), "--hold", "60"]
        self.pod = PodServer(directory / "pod", main or generator, **more)
        self.files = PodFiles(self.pod.access, "load-0", str(find_loadgen()))
        self.became: tuple[str, int | None] = ("", None)
        self.log = directory / "generator.log"
        self.live: list[Event] = []
        self.channel = Channel([], self.log, self._take, self._start)

    def _start(self, command: list[str], log: Path) -> Attached:
        return Attached(
            self.pod.access, "load-0", log, lost=lambda ended: self.became, end=self.files.end
        )

    def _take(self, event: Event, received: float) -> bool:
        if event.get("event") == "live":
            self.live.append(event)
        return event.get("event") == "live"

    @property
    def main(self) -> subprocess.Popen[bytes]:
        """The process of the pod."""
        assert self.pod.main
        return self.pod.main

    def begin(self, spec: dict[str, Any]) -> None:
        """Open, load and start."""
        self.channel.await_event(("ready",), 30)
        for command, answer in (("open", "opened"), ("load", "loaded"), ("start", "started")):
            self.channel.send({"cmd": command, "spec": spec})
            self.channel.await_event((answer,), 30)

    def close(self) -> None:
        """End everything."""
        self.channel.close({"cmd": "exit"})
        self.pod.close()


@pytest.fixture
def driven(tmp_path: Path) -> Iterator[Callable[..., Driven]]:
    """Start a process in a pod; each is gone after the test."""
    with ExitStack() as started:

        def make(main: list[str] | None = None, **more: Any) -> Driven:
            made = Driven(tmp_path, main, **more)
            started.callback(made.close)
            return made

        yield make


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A database that never fails."""
    with Server(tmp_path / "server", {"lanes": 2}) as server:
        yield server


@pytest.mark.parametrize("protocols", [("v5.channel.k8s.io",), V4])
def test_a_generator_in_a_pod_is_driven_as_one_here(
    driven: Callable[..., Driven], server: Server, protocols: tuple[str, ...]
) -> None:
    one = driven(protocols=protocols)
    one.begin(specification(server, one.depot / "run", verified()))
    await_true(lambda: len(one.live) > 1)
    one.channel.send({"cmd": "stop"})
    stopped = one.channel.await_event(("stopped",), 30)

    assert one.channel.close({"cmd": "exit"}) == 0
    assert stopped["ok"] > 0
    assert one.main.poll() is None  # its files wait
    assert one.log.read_text() == ""
    one.files.release()
    await_true(lambda: one.main.poll() == 0)


def test_a_large_command_arrives_whole(driven: Callable[..., Driven]) -> None:
    one = driven(["cat"])
    one.channel.send({"event": "echo", "text": "ä" * 500_000})

    assert one.channel.await_event(("echo",), 30)["text"] == "ä" * 500_000


def test_a_generator_whose_connection_broke_goes_on_and_drains(
    driven: Callable[..., Driven], server: Server
) -> None:
    one = driven()
    one.became = ("pod load-0 on node w1 still runs", None)
    one.begin(specification(server, one.depot / "run", verified(), linger_s=0.2))
    one.pod.cut()
    await_true(lambda: not one.channel.alive)

    with pytest.raises(GeneratorError, match=r"connection to pod load-0 broke: .*; pod load-0 on"):
        one.channel.await_event(("stopped",), 30)
    await_true(lambda: (one.depot / "ended").exists())  # by itself: nobody told it
    assert '"stop_reason": "end of input"' in (one.depot / "run/generator.json").read_text()


def test_a_lost_pod_is_named_with_its_reason(driven: Callable[..., Driven], server: Server) -> None:
    one = driven()
    one.became = ("pod load-0 on node w1: OOMKilled (exit code 137)", -9)
    one.begin(specification(server, one.depot / "run", verified()))
    one.main.send_signal(signal.SIGKILL)
    await_true(lambda: not one.channel.alive)

    wanted = r"ended \(signal 9\): pod load-0 on node w1: OOMKilled \(exit code 137\)"
    with pytest.raises(GeneratorError, match=wanted):
        one.channel.await_event(("stopped",), 30)


def test_a_generator_that_somebody_else_ended_is_said_to_be(
    driven: Callable[..., Driven], server: Server
) -> None:
    one = driven()
    one.became = ("pod load-0 on node w1: it is being deleted", None)
    one.begin(specification(server, one.depot / "run", verified()))
    one.main.terminate()
    await_true(lambda: not one.channel.alive)

    one.channel.await_event(("stopped",), 30)  # it drained
    with pytest.raises(GeneratorError, match=r"exit code 0\): pod load-0 .* being deleted"):
        one.channel.await_event(("verified",), 30)


def test_a_generator_that_is_busy_is_ended_all_the_same(
    driven: Callable[..., Driven], server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = driven()
    one.begin(specification(server, one.depot / "run", verified()))
    process = one.channel._process
    process.terminate()

    assert process.wait(30) == 0
    assert '"stop_reason": "signal"' in (one.depot / "run/generator.json").read_text()


def test_what_does_not_listen_is_let_go(driven: Callable[..., Driven]) -> None:
    deaf = driven([sys.executable, "-c", "import time; time.sleep(600)"])
    deaf.became = ("pod load-0 on node w1 still runs", None)
    process = deaf.channel._process
    process.kill()

    assert process.wait(30) == LOST


def test_what_it_says_on_its_stderr_is_logged_here(driven: Callable[..., Driven]) -> None:
    one = driven(
        [sys.executable, "-c", "import sys; print('oh', file=sys.stderr); sys.stdin.read()"]
    )

    await_true(lambda: one.log.exists() and one.log.read_text() == "oh\n")


def test_a_silent_connection_is_given_up(
    driven: Callable[..., Driven], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("brownout.load.kubernetes.stream._SILENT_S", 0.5)
    monkeypatch.setattr("brownout.load.kubernetes.stream._PING_EVERY_S", 60.0)
    monkeypatch.setattr(attach, "_TURN_S", 0.1)
    one = driven([sys.executable, "-c", "import time; time.sleep(600)"])

    assert one.channel._process.wait(30) == LOST
    assert "broke: silent for" in one.log.read_text()


def test_a_pod_that_refuses_is_said_with_the_api_servers_words(tmp_path: Path) -> None:
    with (
        PodServer(tmp_path / "pod") as pod,
        pytest.raises(HostError, match=r'attach to pod load-0 .*: 403 pods "load-0" is forbidden'),
    ):
        Attached(pod.access, "load-0", tmp_path / "log", lost=lambda _: ("", 0), end=lambda: None)


@fuzzed()
@given(damaged(b'{"code": 0, "event": "ended"}'))
@example(b'["ended"]')
@example(b'{"event": "ended"}')
@example(b'"ended"' + b"[" * 30_000)
@example(b"[" * 30_000 + b'"ended"')
def test_no_line_of_a_pod_can_stop_its_streams_fuzz(line: bytes) -> None:
    code = attach._ended(line)

    assert code is None or b'"ended"' in line
