"""The figures of a report, one module a subject: each makes a `Chart` from the material, or None.

None means that there is nothing to draw; the page then says what is missing instead of an empty
frame. `all_charts` gives them in the order in which they are read.
"""

from brownout.show.report.chart import Chart
from brownout.show.report.figures import (
    errors,
    health,
    lanes,
    latency,
    outcomes,
    spectrum,
    throughput,
)
from brownout.show.report.material import Material

__all__ = ["all_charts"]


def all_charts(material: Material) -> dict[str, Chart]:
    """Return every figure that can be drawn, by its key; without a series there is no time."""
    if not material.series:
        return {}
    charts = [
        throughput.total(material),
        throughput.completions(material),
        *latency.over_time(material),
        outcomes.ratio(material),
        outcomes.ends(material),
        errors.by_cause(material),
        lanes.by_lane(material),
        *spectrum.spectra(material),
        health.lag(material),
    ]
    return {chart.key: chart for chart in charts if chart is not None}
