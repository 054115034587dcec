"""The command line as a whole: help, exit codes, and how quickly it is there."""

import os
import subprocess
import sys

import pytest
from tests.cli.conftest import Brownout
from tests.show.live.terminal import run_in_terminal

from brownout import cli
from brownout.base.errors import ExitCode

#: Importing one of these takes longer than printing a help text.
HEAVY = ("numpy", "pydantic", "pymongo", "jinja2", "matplotlib", "asyncssh", "rich.live")


def _commands() -> list[tuple[str, ...]]:
    """Every command with the groups that it is in."""
    root = cli.command()
    found: list[tuple[str, ...]] = []

    def walk(command: object, path: tuple[str, ...]) -> None:
        below = getattr(command, "commands", None)
        if path:
            found.append(path)
        for name, child in (below or {}).items():
            walk(child, (*path, name))

    walk(root, ())
    return found


COMMANDS = _commands()


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_explains_itself(path: tuple[str, ...], brownout: Brownout) -> None:
    said = brownout(*path, "--help")
    assert said.code == 0
    assert "Usage" in said.out
    command = cli.command()
    for name in path:
        command = command.commands[name]
    assert command.help
    undocumented = [
        parameter.name
        for parameter in command.params
        if parameter.param_type_name == "option" and not getattr(parameter, "help", "")
    ]
    assert undocumented == []


def test_help_and_completion_do_not_wait_for_what_does_the_work() -> None:
    program = f"import sys, brownout.cli; print([n for n in {HEAVY!r} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_the_installed_command_says_its_version() -> None:
    from importlib.metadata import version

    done = subprocess.run(
        [sys.executable, "-m", "brownout", "--version"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout.strip()) == (0, version("brownout"))


@pytest.mark.parametrize(
    "arguments",
    [
        ("no-such-command",),
        ("show", "--no-such-option"),
        ("lab", "up", "--members", "99"),
        ("list", "no-such-kind"),
        ("impact",),
    ],
    ids=" ".join,
)
def test_bad_usage_is_bad_input_and_says_what_is_wrong(
    arguments: tuple[str, ...], brownout: Brownout
) -> None:
    said = brownout(*arguments)
    assert said.code == ExitCode.BAD_INPUT
    assert said.err.strip()
    assert "Traceback" not in said.err


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (("heel",), "`brownout heal`"),
        (("prune",), "`brownout runs prune`"),
        (("pin",), "`brownout baseline pin`"),
        (("runs", "show"), "`brownout show`"),
        (("store", "lst"), "`brownout store list` or `brownout list`"),
        (("history", "ad"), "`brownout history add`"),
        (("pulll",), "`brownout store pull`"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, tuple) else "",
)
def test_a_mistyped_command_is_looked_for_in_every_group(
    typed: tuple[str, ...], meant: str, brownout: Brownout
) -> None:
    said = brownout(*typed)
    assert said.code == ExitCode.BAD_INPUT
    assert f"Did you mean {meant}" in said.err


def test_flags_have_no_type_in_help(brownout: Brownout) -> None:
    for path in ((), *COMMANDS):
        assert "<bool>" not in brownout(*path, "--help").out


@pytest.mark.parametrize("arguments", [["--help"], ["no-such-command"]], ids=" ".join)
@pytest.mark.parametrize(
    ("terminal", "variables", "coloured"),
    [
        (False, {"GITHUB_ACTIONS": "true", "FORCE_COLOR": "1", "PY_COLORS": "1"}, False),
        (True, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        (True, {}, True),
    ],
    ids=["no terminal", "NO_COLOR", "a terminal"],
)
def test_only_a_terminal_gets_colours_and_only_if_they_are_wanted(
    terminal: bool, variables: dict[str, str], coloured: bool, arguments: list[str]
) -> None:
    if terminal:
        shown = run_in_terminal("brownout", *arguments, env=variables).written
    else:
        command = [sys.executable, "-m", "brownout", *arguments]
        done = subprocess.run(command, env={**os.environ, **variables},
                              capture_output=True, text=True)  # fmt: skip
        shown = done.stdout + done.stderr
    assert "rownout" in shown
    assert ("\x1b[" in shown) is (coloured and arguments[-1] == "--help")


def test_a_crash_of_ours_is_inconclusive_and_never_a_fail(
    brownout: Brownout, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash() -> list[object]:
        raise RuntimeError("a bug")

    monkeypatch.setattr("brownout.cli.machine.examine", crash)
    said = brownout("doctor")
    assert said.code == ExitCode.INCONCLUSIVE
    assert "a bug" in said.err


def test_a_person_who_ends_a_command_is_told_so(
    brownout: Brownout, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted() -> list[object]:
        raise KeyboardInterrupt

    monkeypatch.setattr("brownout.cli.machine.examine", interrupted)
    said = brownout("doctor")
    assert (said.code, said.err.strip()) == (ExitCode.ABORTED, "brownout: stopped")


def test_a_reader_that_has_had_enough_is_no_error() -> None:
    command = f"{sys.executable} -m brownout list | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_shell_can_learn_to_complete(brownout: Brownout) -> None:
    script = (
        "import os, sys; sys.argv = ['brownout']\n"
        "os.environ |= {'_BROWNOUT_COMPLETE': 'complete_bash', 'COMP_WORDS': 'brownout new node-',"
        " 'COMP_CWORD': '2'}\n"
        "from brownout.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert {"node-kill", "node-wipe", "node-pause"} <= set(done.stdout.split())
