"""An experiment whose cluster and load are left out: for tests of how Chaos Toolkit ends a run.

Chaos Toolkit, our control and our interruption are the real ones. Called as a program with what
ends the run and a folder to work in; it prints the journal's end and the events as JSON.
"""

import json
import logging
import os
import signal
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from chaoslib.exit import exit_gracefully
from chaoslib.experiment import run_experiment
from chaoslib.log import configure_logger

from brownout import control
from brownout.session.interruption import Interruption
from brownout.session.pauses import Pauses
from brownout.session.stop_conditions import FileExists

HOW, WHERE = (sys.argv[1], Path(sys.argv[2])) if __name__ == "__main__" else ("", Path())
STOP, THERE, CLEANED = WHERE / "stop", WHERE / "there", WHERE / "cleaned"
ENDINGS = {
    "ctrl_c": lambda: os.kill(os.getpid(), signal.SIGINT),
    "sigterm": lambda: os.kill(os.getpid(), signal.SIGTERM),
    "stop_condition": STOP.touch,
    "safeguard": exit_gracefully,
}
napping = threading.Event()


class RaisesInItsFinalizer:
    """Python prints what a finalizer raises, and forgets it."""

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGTERM)


class RaisesInEmit(logging.Handler):
    """`logging` prints what a handler raises, and forgets it."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        except Exception:
            self.handleError(record)


def nap() -> None:
    """Somebody else's action: it knows nothing of us, and sleeps."""
    napping.set()
    if HOW == "lost_in_a_finalizer":
        RaisesInItsFinalizer()
    if HOW == "lost_in_a_log":
        logging.getLogger("somebody").addHandler(RaisesInEmit())
        logging.getLogger("somebody").warning("a word")
    if HOW == "slow_to_clean_up":
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            time.sleep(2.5)
            CLEANED.touch()
    time.sleep(30 if HOW in ENDINGS else 600 if HOW.startswith("lost") else 0)
    if HOW == "an_action_raises":
        raise TypeError("'5' is no number")
    if HOW.startswith("deviates"):
        THERE.unlink()


def ask(address: str) -> None:
    """Somebody else's action, whose message has the address with the password in it."""
    raise ConnectionError(f"no answer from {address}")


def is_there() -> bool:
    """Somebody else's probe."""
    return THERE.exists()


class Events:
    """Keeps what an event log would write."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str]] = []

    def point(self, type: str, name: str, **more: Any) -> None:
        self.said.append((type, str(more.get("reason"))))


class Session:
    """A session without a cluster; its verdict is what the case wants, if nothing ended it."""

    events = Events()

    def __init__(self, plan: object, *keeping: object) -> None:
        self.interruption = Interruption([FileExists(file=STOP)])
        self.pauses = Pauses(self.interruption.must_stop, lambda *_: None, lambda *_: None)

    def open(self) -> None:
        self.interruption.arm()
        self.interruption.watch(WHERE, self.events, lambda: None)  # type: ignore[arg-type, return-value]
        if HOW == "opening_raises":
            raise TypeError("our own mistake")
        if HOW == "ctrl_c_while_opening":
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(30)

    def begin_method(self) -> None: ...

    def end_method(self) -> None: ...

    def begin_step(self, activity: Any) -> None: ...

    def end_step(self, activity: Any, error: str | None) -> None: ...

    def begin_undo(self) -> None:
        self.interruption.no_more()

    def close(self, journal: object, unmet: object, settle: object) -> dict[str, Any]:
        self.begin_undo()
        self.interruption.end()
        word = "aborted" if self.interruption.aborted() else "inconclusive"
        wanted = HOW.partition("deviates_")[2]
        return {"verdict": wanted or word, "reasons": [self.interruption.reason]}


def _provider(func: str) -> dict[str, Any]:
    return {"type": "python", "module": "__main__", "func": func, "arguments": {}}


def _end() -> None:
    napping.wait()
    ENDINGS[HOW]()


def main() -> None:
    configure_logger()
    vars(control).update(make_plan=lambda *_: SimpleNamespace(variables={}), Session=Session)
    THERE.touch()
    if HOW in ENDINGS:
        threading.Thread(target=_end, daemon=True).start()
    step = {"type": "action", "name": "nap", "provider": _provider("nap")}
    method = [step, {"ref": "nobody"}] if HOW == "chaos_toolkit_raises" else [step, step]
    if HOW.startswith("deviates"):
        method = [step]
    if HOW == "an_address_with_a_secret":
        asking = {**_provider("ask"), "arguments": {"address": "http://h/health?k=${pw}"},
                  "secrets": ["mine"]}  # fmt: skip
        method = [{"type": "action", "name": "ask", "provider": asking}]
    journal = run_experiment({
        "title": "t", "description": "d", "method": method, "rollbacks": [],
        "secrets": {"mine": {"pw": "in clear/7"}},
        "runtime": {"rollbacks": {"strategy": "always"}},
        "controls": [{"name": "brownout",
                      "provider": {"type": "python", "module": "brownout.control"}}],
        "steady-state-hypothesis": {"title": "h", "probes": [
            {"type": "probe", "name": "there", "tolerance": True,
             "provider": _provider("is_there")}]},
    })  # fmt: skip
    if HOW == "an_address_with_a_secret":
        print(json.dumps(journal, default=str))
    told = {key: journal.get(key) for key in ("status", "deviated", "brownout")}
    print(json.dumps({**told, "events": Session.events.said}))


if __name__ == "__main__":
    main()
