"""Have a lab's runs accept any baseline: for soaks of what is put back, on a machine too busy.

Python imports it at its start where this directory is in PYTHONPATH.
"""

from dataclasses import replace

from brownout.measure.settings import MeasureSettings

_lab = MeasureSettings.lab()


def _any_baseline(_: type[MeasureSettings]) -> MeasureSettings:
    return replace(
        _lab,
        drift_max=1e9,
        halves_max=1e9,
        variation_max=1e9,
        error_ratio_max=1.0,
        missed_ratio_max=1.0,
        achieved_min=0.0,
        lag_p99_max_ms=1e9,
    )


MeasureSettings.lab = classmethod(_any_baseline)  # type: ignore[assignment]
