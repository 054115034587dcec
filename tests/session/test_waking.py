"""A signal that another thread was given ends what the main thread waits for."""

import os
import signal
import subprocess
import sys
import threading
import time

from brownout.session.waking import Waker

PROGRAM = """
import signal, sys, threading, time
from brownout.session.waking import Waker

def leave(number, frame):
    raise SystemExit(20)

signal.signal(signal.SIGUSR1, leave)
other = threading.Thread(target=time.sleep, args=(600,), daemon=True)
other.start()
if sys.argv[1] == "on":
    Waker().start()
told = threading.Timer(0.5, signal.pthread_kill, (other.ident, signal.SIGUSR1))
told.daemon = True
told.start()
try:
    time.sleep(float(sys.argv[2]))
    print("slept on")
finally:
    print("left")
"""


def _run(how: str, sleep_s: float) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PROGRAM, how, str(sleep_s)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_without_help_the_main_thread_sleeps_to_the_end() -> None:
    began = time.monotonic()
    assert _run("off", 3).returncode == 20
    assert time.monotonic() - began >= 3


def test_the_main_thread_is_woken_for_it() -> None:
    done = _run("on", 3600)  # it would outlast the time-out
    assert (done.returncode, done.stdout) == (20, "left\n"), done.stderr


def test_what_was_before_is_put_back() -> None:
    before = signal.getsignal(signal.SIGURG)
    waker = Waker()
    waker.start()
    waker.start()
    os.kill(os.getpid(), signal.SIGURG)
    waker.stop()
    waker.stop()
    assert signal.getsignal(signal.SIGURG) is before
    assert signal.set_wakeup_fd(-1) == -1
    assert threading.main_thread().is_alive()
