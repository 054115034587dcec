"""One step of a game day: its process, safeguards beside it, and what ends it early."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from brownout.faults import open_runs
from brownout.runs.gameday.planning import Made
from brownout.runs.gameday.spec import GameDay
from brownout.session.experiment_process import ExperimentProcess, Outcome
from brownout.session.stopping import ask_to_stop

__all__ = ["make_one", "option"]

POLL_S = 0.1


def make_one(made: Made, gameday: GameDay, look: Callable[[str], str]) -> Outcome:
    """Run a step's experiment and return what it left.

    `look` is called all the time with the run's directory, empty as long as there is none, and
    returns why the run is to stop, if it is. The process is told to stop when this one dies.
    """
    with TemporaryDirectory(prefix="brownout-gameday-") as place:
        variables = [option(name, value) for name, value in made.variables.items()]
        controls = _safeguards(gameday, Path(place))
        occasion = f"game day {gameday.name}"
        with ExperimentProcess(made.path, variables, controls, True, occasion) as running:
            told = False
            while running.process.poll() is None:
                claim = next((c for c in open_runs.claims() if c.pid == running.process.pid), None)
                reason = look(claim.run if claim else "")
                if reason and not told:
                    told = True
                    # Before it has a cluster in its hands nothing can be broken.
                    ask_to_stop(claim, reason) if claim else running.process.terminate()
                time.sleep(POLL_S)
            return running.outcome()


def option(name: str, value: Any) -> str:
    """Return a variable as `chaos run --var` takes it, with its type."""
    if isinstance(value, str):
        return f"{name}={value}"
    return f"{name}:json={json.dumps(value)}"


def _safeguards(gameday: GameDay, place: Path) -> Path | None:
    """Return a control file that has chaostoolkit-addons watch the game day's probes."""
    if not gameday.safeguards:
        return None
    control = {
        "provider": {
            "type": "python",
            "module": "chaosaddons.controls.safeguards",
            "arguments": {"probes": list(gameday.safeguards)},
        }
    }
    path = place / "safeguards.json"
    path.write_text(json.dumps({"game day's safeguards": control}), encoding="utf-8")
    return path
