"""An experiment whose run was recorded: a real `chaos run`, whose control hands a run over."""

import json
from pathlib import Path

__all__ = ["CONTROL", "experiment"]

#: What stands in for `brownout.control`: it says which run the experiment made.
CONTROL = """
def after_experiment_control(context, state=None, configuration=None, **_):
    state["brownout"] = {"run": configuration["run"], "undo_failed": []}
"""


def experiment(folder: Path, run: Path, name: str = "recorded") -> Path:
    """Write an experiment into `folder` whose run is `run`; its control is `handed_over.py`."""
    (folder / "handed_over.py").write_text(CONTROL)
    path = folder / f"{name}.json"
    path.write_text(json.dumps({
        "title": "a recorded run", "description": "nothing is touched",
        "configuration": {"run": str(run), "cluster": "lab-mongodb", "limits": "",
                          "downtime_s": 2},
        "controls": [{"name": "recorded",
                      "provider": {"type": "python", "module": "handed_over"}}],
        "method": [],
    }))  # fmt: skip
    return path
