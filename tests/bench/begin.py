"""How long it is from `chaos run` to the first operation, on a lab that is up."""

import json
import time
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from tests import chaos_runner as chaos
from tests.bench.lab_of_one import lab_of
from tests.bench.table import table


def tables() -> str:
    """Run an experiment, and compare the generator's first moment with that of the command."""
    with lab_of(3), TemporaryDirectory() as directory:
        began = time.time()
        ran = chaos.run(chaos.quick(chaos.load("stepdown")), Path(directory))
        ended = time.time()
        assert ran.directory is not None, ran.output
        told = json.loads((ran.directory / "generator.json").read_text())
    first = datetime.fromisoformat(told["t0_wall"]).timestamp()
    rows = [
        ["from `chaos run` to the first operation, data set loaded", f"{first - began:.1f}"],
        ["the whole run of `stepdown`, baseline of 3 s", f"{ended - began:.1f}"],
    ]
    return table("Start", ["", "seconds"], rows)
