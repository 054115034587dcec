"""What a fault did to a load: the measures of `docs/measures.md`, as pure functions.

Nothing here reads a file, knows a cluster or asks the time. Start with `assess`, or with
`series_impact` for a series that is not of ours.
"""

from brownout.measure.assess import Findings, assess
from brownout.measure.data import RunData
from brownout.measure.foreign import series_impact
from brownout.measure.impact import Fault, Impact, ScopeImpact
from brownout.measure.measures import Measure
from brownout.measure.settings import MeasureSettings
from brownout.measure.unit import Unit
from brownout.measure.view import View

__all__ = [
    "Fault",
    "Findings",
    "Impact",
    "Measure",
    "MeasureSettings",
    "RunData",
    "ScopeImpact",
    "Unit",
    "View",
    "assess",
    "series_impact",
]
