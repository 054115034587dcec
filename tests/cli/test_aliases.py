"""Old forms of options: they work until the next release, and each says what is to be written."""

from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Brownout
from tests.run_builder import RunScript, build_run

from brownout import cli
from brownout.cli.aliases import ALIASES, format_of
from brownout.cli.output import DIRECTORY

#: What each command must be given beside the option.
NEEDED: dict[str, list[str]] = {
    "baseline pin": ["run"],
    "calibrate serve": ["script.yaml"],
    "compare": ["run"],
    "gate": ["run"],
    "inventory from-aerolab": ["-"],
    "inventory from-ansible": ["hosts.ini"],
    "litmus probes": ["node-kill"],
    "new": ["node-kill"],
    "plan": ["node-kill"],
    "repeat": ["node-kill"],
    "store pull": ["run"],
    "sweep": ["node-kill", "--vary", "seed=1,2"],
    "trend": ["run"],
}
#: An old value, and what is to be written now, where that is not the same.
VALUES = {"--limit-s": ("90", "90s"), "--election-timeout-ms": ("2500", "2500ms"),
          "--var": ("seed=4711", "seed=4711"), "--keep": ("30d", "30d"),
          "--confirm": ("5m", "5m")}  # fmt: skip
FORMS = [(command, option) for command, options in ALIASES.items() for option in options]


def parsed(command: str, *arguments: str) -> dict[str, Any]:
    """Return what a command makes of its arguments, without being carried out."""
    found: Any = cli.command()
    context = found.context_class(found, info_name="brownout")
    *groups, name = command.split()
    for group in groups:
        found = found.commands[group]
        context = found.context_class(found, parent=context, info_name=group)
    last = found.commands[name]
    made = last.make_context(name, [*NEEDED.get(command, []), *arguments], parent=context)
    return dict(made.params)


@pytest.mark.parametrize(("command", "option"), FORMS, ids=" ".join)
def test_an_old_option_means_what_the_new_one_does_and_says_so(
    command: str, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    alias = ALIASES[command][option]
    old, new = VALUES.get(option, ("there.file", "there.file"))
    words = ([option], alias.flag) if alias.flag else ([option, old], new)
    wanted = parsed(command, alias.new, words[1])
    assert capsys.readouterr().err == ""
    assert parsed(command, *words[0]) == wanted
    (hint,) = capsys.readouterr().err.splitlines()
    assert hint.startswith(f"brownout: `{option}")
    assert f"is now `{alias.new}" in hint
    if not alias.flag:
        assert parsed(command, f"{option}={old}") == wanted
        assert format_of(Path(old)) == alias.form


@pytest.mark.parametrize(
    ("command", "option", "given"),
    [
        ("repeat", "--phase-max", "2.5"),
        ("litmus probe", "--wait", "0"),
        ("load", "--for", "90"),
        ("trend", "--every", "60"),
        ("impact", "--resolution", "30"),
    ],
)
def test_a_bare_number_is_still_seconds_and_asks_for_its_unit(
    command: str, option: str, given: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    others = {"litmus probe": ["run", "blackout"], "load": ["lab"],
              "impact": ["a.csv", "--fault-at", "1"]}  # fmt: skip
    for name, words in others.items():
        monkeypatch.setitem(NEEDED, name, words)
    wanted = parsed(command, option, f"{given}s")
    assert capsys.readouterr().err == ""
    assert parsed(command, option, given) == wanted
    assert f"`{option} {given}` is now `{option} {given}s`" in capsys.readouterr().err


def test_settings_in_one_option_are_taken_apart(capsys: pytest.CaptureFixture[str]) -> None:
    found = parsed("fill", "lab", "--set", "data.keys=5,streams.0.mix=[a, b],namespace=mine")
    wanted = ["data.keys=5", "streams.0.mix=[a, b]", "namespace=mine"]
    assert found["settings"] == wanted
    assert "is now `--set data.keys=5 --set streams.0" in capsys.readouterr().err
    assert parsed("plan", "--set", "load=a.b=1,c.d=2")["settings"] == ["load=a.b=1,c.d=2"]
    assert capsys.readouterr().err == ""


def test_an_option_is_hinted_at_once_and_a_value_like_it_not_at_all(
    capsys: pytest.CaptureFixture[str],
) -> None:
    parsed("plan", "--var", "a=1", "--var", "b=2")
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert parsed("store pull", "--store", "--to", "--", "--to")["store"] == "--to"
    assert capsys.readouterr().err == ""


def test_a_directory_is_called_as_outputs_call_it() -> None:
    assert ALIASES["calibrate run"]["--keep"].form == DIRECTORY


def test_help_is_silent_on_old_forms(brownout: Brownout) -> None:
    for command, option in FORMS:
        assert f"{option} " not in brownout(*command.split(), "--help").out


def test_an_old_option_decides_the_format_whatever_the_suffix(
    brownout: Brownout, home: Path
) -> None:
    run = build_run(home / "runs", RunScript(duration_s=45))
    gate = brownout("gate", run, "--junit", home / "gate", "--markdown", home / "summary")
    assert (home / "gate").read_text().startswith("<?xml"), gate.err
    assert (home / "summary").read_text().startswith("#")
    assert brownout("report", run, "--markdown").out == brownout("report", run, "-o", "-").out
    assert brownout("history", "--html", home / "page").code == 0
    assert "<html" in (home / "page").read_text()
    assert brownout("history", "-o", home / "page").code == 64
