"""Read the series of another tool's run: rows of counts, rates or totals, or a row per request.

Start with `read`. What a file says is told apart in three steps: `source` has its text, `tools` the
shapes of known tools, and `rows` and `requests` turn what was read into counts per interval.
"""

from brownout.run.foreign.reader import read
from brownout.run.foreign.series import FORMATS, ForeignSeries, Options

__all__ = ["FORMATS", "ForeignSeries", "Options", "read"]
