"""What a calibration was made on, in a line."""

import os
import platform
from importlib.metadata import version

__all__ = ["machine_words"]


def machine_words() -> str:
    """`brownout 0.1.0, Linux x86_64, 2 cores, load average 0.8 at the end`."""
    load = os.getloadavg()[0]
    return (
        f"brownout {version('brownout')}, {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} cores, load average {load:.1f} at the end"
    )
