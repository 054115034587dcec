"""A signal that another thread was given ends what the main thread waits for."""

import os
import signal
import subprocess
import sys
import threading
import time

from brownout.session.waker import Waker

PROGRAM = """
import signal, sys, threading, time
from brownout.session.waker import Waker

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

#: `asleep.set()` lets the other thread run when the main thread is about to enter its sleep.
JUST_BEFORE = """
import os, signal, threading, time
from brownout.session.waker import Waker

class Told(Exception):
    pass

def tell(number, frame):
    raise Told

def send(asleep):
    asleep.wait()
    os.kill(os.getpid(), signal.SIGUSR1)

signal.signal(signal.SIGUSR1, tell)
waker, slept = Waker(), 0
waker.start()
for _ in range(1000):
    asleep = threading.Event()
    sender = threading.Thread(target=send, args=(asleep,))
    sender.start()
    time.sleep(0.0005)
    began = time.monotonic()
    try:
        asleep.set()
        time.sleep(5)
    except Told:
        pass
    sender.join()
    if time.monotonic() - began > 4:
        slept += 1
        break
waker.stop()
print(f"slept to the end {slept} times")
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


def test_a_signal_that_comes_just_before_it_goes_to_sleep_wakes_it_too() -> None:
    done = subprocess.run(
        [sys.executable, "-c", JUST_BEFORE], capture_output=True, text=True, timeout=240
    )
    assert (done.returncode, done.stdout) == (0, "slept to the end 0 times\n"), done.stderr


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
