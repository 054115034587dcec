"""What a fault did to a load: the measures of `docs/measures.md`, as pure functions.

Nothing here reads a file, knows a cluster or asks the time. Start with `assess`, or with
`series_impact` for a series that is not of ours.
"""

from brownout.impact.anybody import series_impact
from brownout.impact.assess import Fault, Impact, ScopeImpact, assess
from brownout.impact.data import RunData
from brownout.impact.document import as_document
from brownout.impact.settings import MeasureSettings

__all__ = [
    "Fault",
    "Impact",
    "MeasureSettings",
    "RunData",
    "ScopeImpact",
    "as_document",
    "assess",
    "series_impact",
]
