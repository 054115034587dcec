"""Tests fork a run, which sees and does what one does that `python -m chaostoolkit` starts."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from tests import chaos_runner as chaos
from tests.forked_run import brownout
from tests.waiting import await_true

#: A module in the folder of the run that says what the run sees.
ACTION = """
import json, os, random, signal, sys, threading, time

def look():
    seen = {
        "parent": os.getppid(), "group": os.getpgrp(), "session": os.getsid(0),
        "folder": os.getcwd(), "argv": sys.argv, "path": sys.path,
        "main": sys.modules["__main__"].__spec__.name, "environment": dict(os.environ),
        "signals": {each.name: getattr(signal.getsignal(each), "__qualname__", str(signal.getsignal(each))) for each in signal.Signals},
        "ignored": [line for line in open("/proc/self/status") if line.startswith(("SigIgn", "SigBlk"))],
        "files": [os.readlink(f"/proc/self/fd/{n}").partition(":")[0] for n in (0, 1, 2)],
        "threads": threading.active_count(), "random": random.random(), "pid": os.getpid(),
    }
    with open("draft", "w") as file:
        json.dump(seen, file)
    os.rename("draft", "seen.json")
    print("looked", flush=True)
    print("complained", file=sys.stderr, flush=True)
    if os.environ["THEN"] == "hang":
        time.sleep(600)
    if os.environ["THEN"] == "fail":
        sys.exit(7)
"""  # noqa: E501
EXPERIMENT: dict[str, Any] = {
    "title": "t", "description": "d", "rollbacks": [],
    "method": [{"type": "action", "name": "look",
                "provider": {"type": "python", "module": "looking", "func": "look"}}],
}  # fmt: skip


def _look(where: Path, then: str, **more: str) -> tuple[chaos.Ran, dict[str, Any]]:
    where.mkdir(exist_ok=True)
    (where / "looking.py").write_text(ACTION)
    ran = chaos.run(EXPERIMENT, where, env={"THEN": then, "WORD": "zwölf", **more})
    return ran, json.loads((where / "seen.json").read_text())


@pytest.mark.parametrize(
    ("then", "more"), [("end", {}), ("fail", {}), ("end", {"PYTHONPATH": "/a/path/of/its/own"})]
)
def test_a_forked_run_sees_and_leaves_what_a_started_one_does(
    then: str, more: dict[str, str], tmp_path: Path
) -> None:
    started, wanted = _look(tmp_path / "same", then, PYTHONDONTWRITEBYTECODE="1", **more)
    forked, seen = _look(tmp_path / "same", then, **more)
    assert wanted["environment"].pop("PYTHONDONTWRITEBYTECODE") == "1"
    seen["environment"].pop("PYTHONDONTWRITEBYTECODE", None)

    assert (seen["parent"], seen["group"]) == (os.getpid(), os.getpgrp())
    assert seen.pop("random") != wanted.pop("random")
    assert seen.pop("pid") != wanted.pop("pid")
    assert seen == wanted
    assert set(more.values()) <= set(seen["path"])
    assert forked.code == started.code
    assert "looked" in forked.output
    assert "complained" in forked.output
    assert forked.journal["status"] == started.journal["status"]


@pytest.mark.parametrize(
    "words",
    [
        ("plan", "node-kill", "--set", "seed=1"),
        ("plan", "nothing"),
    ],
)
def test_a_forked_command_says_what_a_started_one_does(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    env = {"BROWNOUT_LAB_DIR": str(tmp_path)}
    started = brownout(*words, env={**env, "PYTHONDONTWRITEBYTECODE": "1"}, cwd=tmp_path)
    forked = brownout(*words, env=env, cwd=tmp_path)
    assert (forked.returncode, forked.stdout, forked.stderr) == (
        started.returncode, started.stdout, started.stderr
    )  # fmt: skip
    assert forked.stdout + forked.stderr


def test_no_two_forked_runs_have_the_same_randomness(tmp_path: Path) -> None:
    assert len({_look(tmp_path, "end")[1]["random"] for _ in range(2)}) == 2


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_forked_run_as_it_ends_a_started_one(
    sent: signal.Signals, tmp_path: Path
) -> None:
    codes = []
    for name, more in {"started": {"PYTHONDONTWRITEBYTECODE": "1"}, "forked": {}}.items():
        where = tmp_path / name
        where.mkdir()
        (where / "looking.py").write_text(ACTION)
        process = chaos.start(EXPERIMENT, where, env={"THEN": "hang", **more})
        await_true((where / "seen.json").exists, "it looked")
        assert json.loads((where / "seen.json").read_text())["pid"] == process.pid
        process.send_signal(sent)
        codes.append(chaos.finish(process, where).code)
    assert codes[0] == codes[1]
    assert (codes[1] == -signal.SIGKILL) == (sent == signal.SIGKILL)
