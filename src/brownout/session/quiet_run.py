"""Run one experiment in this process, as `chaos run` does, and log only what people need."""

import json
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from chaoslib.exceptions import ChaosException
from chaoslib.loader import parse_experiment_from_file
from chaoslib.settings import CHAOSTOOLKIT_CONFIG_PATH
from chaostoolkit.commands.run import run

from brownout.base.errors import ConfigurationError, ExitCode
from brownout.base.scratch import scratch

__all__ = ["run_quietly"]

_OURS = "brownout: "
#: Warnings of Chaos Toolkit that need no action.
_NO_MATTER = {"Rollbacks were explicitly requested to be played"}


def run_quietly(experiment: Path, variables: Sequence[str], journal: Path | None = None) -> int:
    """Run the experiment in a file to its end and return the exit code.

    `variables` are as `--var` has them. Chaos Toolkit's journal is kept in `journal`, if anywhere.
    Raises `ConfigurationError` where Chaos Toolkit does not take what it was given.
    """
    _check(experiment)
    logger = logging.getLogger("chaostoolkit")
    before = logger.level, logger.propagate
    logger.setLevel(logging.INFO)
    logger.propagate = False
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(_FewWords())
    handler.setFormatter(logging.Formatter(f"{_OURS}%(message)s"))
    logger.addHandler(handler)
    try:
        with scratch("run") as place:
            kept = journal or place / "journal.json"
            kept.unlink(missing_ok=True)
            words = [word for text in variables for word in ("--var", text)]
            arguments = [*words, "--journal-path", os.fspath(kept), os.fspath(experiment)]
            settings = {"settings_path": CHAOSTOOLKIT_CONFIG_PATH}
            run.main(arguments, "brownout run", standalone_mode=False, obj=settings)
            return _code_of(kept)
    except click.ClickException as error:
        raise ConfigurationError(error.format_message()) from error
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before[0])
        logger.propagate = before[1]


def _check(experiment: Path) -> None:
    """Raise `ConfigurationError` if a file cannot be parsed: Chaos Toolkit crashes on it."""
    try:
        parse_experiment_from_file(os.fspath(experiment))
    except (ValueError, OSError, ChaosException) as error:
        raise ConfigurationError(f"{experiment}: not an experiment: {error}") from error


def _code_of(journal: Path) -> int:
    """Return the exit code of what our control left in the journal."""
    if not journal.exists():  # Chaos Toolkit said why: the file is not an experiment
        return int(ExitCode.BAD_INPUT)
    document: dict[str, Any] = json.loads(journal.read_text(encoding="utf-8"))
    ours = document.get("brownout") or {}
    if ours.get("undo_failed"):
        return int(ExitCode.UNDO_FAILED)
    if "exit_code" in ours:
        return int(ours["exit_code"])
    code = ExitCode.of(str(ours.get("verdict")))
    if code is ExitCode.PASS and document["status"] != "completed":
        return int(ExitCode.FAIL if document["deviated"] else ExitCode.INCONCLUSIVE)
    return int(code)


class _FewWords(logging.Filter):
    """Lets through one line a phase, and every warning and error once."""

    def __init__(self) -> None:
        super().__init__()
        self._phase = ""
        self._said: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        """Say whether the words are new, and leave our own name to the formatter."""
        words = record.getMessage()
        record.msg, record.args = words.removeprefix(_OURS), ()
        if record.levelno <= logging.INFO:
            if not words.startswith(_OURS):
                return False
            before, self._phase = self._phase, record.msg.partition(" · ")[0]
            return self._phase != before
        lines = set(record.msg.removeprefix("  => failed: ").splitlines())
        new = bool(lines - self._said - _NO_MATTER)
        self._said |= lines
        return new
