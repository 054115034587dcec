"""Fault-free windows of the real generator on the real scripted server."""

from pathlib import Path

from brownout.calibration.alarms.rates import Rate, of_windows
from brownout.calibration.alarms.window import out_of
from brownout.calibration.catalogue import NOISY_RATES
from brownout.calibration.scenario import Setup
from brownout.calibration.trial import scripted_server, workload_of
from brownout.load.session import run_load
from brownout.measure.settings import MeasureSettings
from brownout.measure.signal import signal_of
from brownout.run.series import read_series

__all__ = ["real_rates"]


def real_rates(directory: Path, seconds: float, settings: MeasureSettings, seed: int) -> list[Rate]:
    """Return each detector's rate in a run of `seconds` at each noise; nothing is broken in it."""
    setups = [Setup("even"), *(_noisy(percent) for percent in NOISY_RATES)]
    rates = []
    for setup in setups:
        place = directory / setup.name
        place.mkdir(parents=True)
        with scripted_server(place, {"lanes": 1}, place / "truth.json") as address:
            target = {
                "driver": "scripted",
                "connection": {"uri": f"scripted://{address}"},
                "options": {},
            }
            run_load(workload_of(setup), target, place / "run", seconds, seed=seed)
        signal = signal_of(read_series(place / "run"), "total")
        rates += of_windows(out_of(signal, settings), setup.noise)
    return rates


def _noisy(percent: int) -> Setup:
    return Setup(f"noise-{percent}", rate=NOISY_RATES[percent], arrivals="poisson")
