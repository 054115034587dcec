"""One process at a time, and the kernel lets go of what a dead one held."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.exhausted import no_file_left

from brownout.base.locks import Held, Lock, holder_of, is_locked

HOLD = """
import sys
from pathlib import Path
from brownout.base.locks import Lock
with Lock(Path(sys.argv[1]), "somebody"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.lock"


@contextmanager
def _held_by_another(path: Path) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_who_has_a_lock_is_said_to_whoever_wants_it(path: Path) -> None:
    with _held_by_another(path), pytest.raises(Held, match="held by somebody"):
        Lock(path).take()


def test_a_lock_is_free_again_once_its_holder_was_killed(path: Path) -> None:
    with _held_by_another(path) as process:
        assert is_locked(path)
        process.kill()
        process.wait()
        assert not is_locked(path)
        with Lock(path, "us"):
            assert (is_locked(path), holder_of(path)) == (True, "us")


def test_a_lock_that_is_waited_for_is_taken_and_the_wait_is_told_once(path: Path) -> None:
    told: list[str] = []
    waiting = threading.Event()

    def say() -> None:
        told.append("waiting")
        waiting.set()

    first = Lock(path).take()

    def let_go() -> None:
        waiting.wait()
        first.release()

    free = threading.Thread(target=let_go)
    free.start()
    second = Lock(path).take(60.0, say)
    free.join()
    assert told == ["waiting"]
    second.release()
    assert not is_locked(path)


def test_a_lock_whose_file_was_removed_meanwhile_is_taken_on_the_new_one(path: Path) -> None:
    first = Lock(path).take()

    def gone() -> None:
        first.release(remove=True)
        assert not path.exists()

    with Lock(path, "second").take(60.0, gone):
        assert holder_of(path) == "second"
        with pytest.raises(Held):
            Lock(path).take()


def test_nobody_holds_a_lock_that_is_not_there(path: Path) -> None:
    assert (is_locked(path), holder_of(path)) == (False, "")
    with pytest.raises(FileNotFoundError):
        Lock(path / "a" / "b").take()


def test_a_shorter_holder_leaves_nothing_of_a_longer_one(path: Path) -> None:
    for holder in ("a rather long holder", "short"):
        with Lock(path, holder):
            assert holder_of(path) == holder


def test_a_lock_that_cannot_be_looked_at_is_not_said_to_be_free(path: Path) -> None:
    with Lock(path):
        with no_file_left(), pytest.raises(OSError, match="Too many open files"):
            is_locked(path)
        assert is_locked(path)
