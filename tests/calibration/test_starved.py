"""A generator that does not get its time says so, and what it measured is not judged."""

import json
from pathlib import Path

import pytest
from tests.calibration.calibrating import calibrate

from brownout.base.binary import find_loadgen

pytestmark = pytest.mark.live

#: Lets the generator run for a quarter of the time; the scripted server is left alone.
STARVING = """\
#!/bin/sh
if [ "$1" = run ]; then
    me=$$
    (
        while kill -STOP $me; do
            sleep 0.3
            kill -CONT $me || exit
            sleep 0.1
        done
    ) </dev/null >/dev/null 2>&1 &
fi
exec "{loadgen}" "$@"
"""


def test_a_starved_generator_makes_a_run_inconclusive(tmp_path: Path) -> None:
    wrapper = tmp_path / "starving"
    wrapper.write_text(STARVING.format(loadgen=find_loadgen()))
    wrapper.chmod(0o755)
    place = tmp_path / "runs"
    done = calibrate(
        "--quick", "--only", "stop", "--again", "0", "-o", str(place),
        env={"BROWNOUT_LOADGEN": str(wrapper)},
    )  # fmt: skip
    assert done.code == 2
    assert {row["state"] for row in done.rows} == {"unmeasured"}
    assert "generator_not_starved" in done.rows[0]["note"]
    (run,) = place.iterdir()
    impact = json.loads((run / "impact.json").read_text())
    assert impact["verdict"] == "inconclusive"
    assert any(reason.startswith("generator_not_starved") for reason in impact["reasons"])
