"""A row of numbers as a row of characters."""

import math
from collections.abc import Sequence

__all__ = ["ASCII", "BLOCKS", "sparkline"]

#: From next to nothing to the top. Nothing at all is a character of its own: an outage must not
#: look like a low rate.
BLOCKS = "▁▂▃▄▅▆▇█"
ASCII = ".:-=+*#%"
NOTHING = "_"


def sparkline(
    values: Sequence[float], top: float, levels: str = BLOCKS, logarithmic: float | None = None
) -> str:
    """Return a character a value, from 0 to `top`.

    With `logarithmic`, the scale runs by decades from that value to `top`; what is below is the
    lowest level.
    """
    return "".join(_level(value, top, levels, logarithmic) for value in values)


def _level(value: float, top: float, levels: str, logarithmic: float | None) -> str:
    if value <= 0:
        return NOTHING
    if logarithmic is None:
        share = value / top if top > 0 else 1.0
    else:
        span = math.log(max(top, 10 * logarithmic) / logarithmic)
        share = math.log(max(value, logarithmic) / logarithmic) / span
    return levels[min(len(levels) - 1, int(share * len(levels) + 1e-9))]
