"""The templates are what cron and systemd want, and call what there is."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from apscheduler.triggers.cron import CronTrigger

from brownout import cli

HERE = Path(__file__).resolve().parents[3] / "infra" / "schedules"
TEXTS = {path.name: path.read_text() for path in HERE.rglob("*") if path.is_file()}


def test_every_template_calls_commands_and_options_that_there_are() -> None:
    calls = [
        call
        for text in TEXTS.values()
        for call in re.findall(r"^(?!#).*?\bbrownout (gameday run.*|heal.*)$", text, re.MULTILINE)
    ]
    assert len(calls) == 3
    top = cli.command()
    for call in calls:
        words, command = call.split(), top
        while words and words[0] in getattr(command, "commands", {}):
            command = command.commands[words.pop(0)]
        known = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= known


def test_the_crontab_has_five_fields_and_a_command() -> None:
    text = TEXTS["brownout-gameday.crontab"]
    lines = [line for line in text.splitlines() if line and not re.match(r"#|\w+=", line)]
    (line,) = lines
    CronTrigger.from_crontab(" ".join(line.split()[:5]))
    assert "brownout gameday run --scheduled" in line


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="NOT TESTED: no systemd-analyze")
def test_systemd_finds_nothing_wrong_with_its_units(tmp_path: Path) -> None:
    units = []
    for kind in ("service", "timer"):
        unit = tmp_path / f"brownout-gameday@lab.{kind}"
        text = TEXTS[f"brownout-gameday@.{kind}"]
        unit.write_text(text.replace("User=brownout", "User=root"))  # who is there on any machine
        units.append(str(unit))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *units], capture_output=True, text=True
    )
    assert (done.returncode, _about_ours(done.stderr)) == (0, [])
    (calendar,) = re.findall(r"^OnCalendar=(.*)$", TEXTS["brownout-gameday@.timer"], re.MULTILINE)
    subprocess.run(["systemd-analyze", "calendar", calendar], check=True, capture_output=True)


def _about_ours(said: str) -> list[str]:
    """Only what is said of our units: it looks at the machine's own as well."""
    return [line for line in said.splitlines() if "brownout-gameday" in line]
