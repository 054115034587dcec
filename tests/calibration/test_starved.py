"""A generator that does not get its time says so, and what it measured is not judged."""

import json
from pathlib import Path
from typing import cast

import pytest
from tests.calibration.calibrating import calibrate
from tests.impacts import made

from brownout.base.binary import find_loadgen
from brownout.calibration import catalogue
from brownout.calibration.layout import lay_out, settings_for
from brownout.calibration.trial import Driven
from brownout.calibration.truth import Truth
from brownout.measure.assess import Findings

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


@pytest.mark.parametrize(
    ("ok", "starved"), [(True, None), (False, "missed in the baseline: 0.15% of its schedule")]
)
def test_a_run_whose_baseline_was_not_sent_whole_says_nothing(
    ok: bool, starved: str | None
) -> None:
    missed = {"name": "missed", "ok": ok, "value": 0.0015, "limit": 0.001}
    impact = made({"baseline": {"tests": [{**missed, "detail": "0.15% of its schedule"}]}})
    (plan,) = lay_out(catalogue.chosen(["lane"], quick=True), settings_for(quick=True), seed=1)
    driven = Driven(plan, Truth((), 0.02, (), (), (), ()), impact, cast(Findings, None), (), ())
    assert driven.starved == starved


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
