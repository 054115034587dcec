"""Game days: several experiments on one cluster, rehearsed on a schedule and within a window.

gameday.yaml ──reading──▶ GameDay ──outlook──▶ what would be done when
                             │
                             └──running──▶ lease, window ──conduct──▶ chaos run …, cool-down, …
                                                             │ days (state), telling (people)
                                                             └──▶ summary, freshness
"""

from importlib.util import find_spec

from brownout.base.errors import Unsupported
from brownout.base.extras import how_to_install

__all__ = ["check_installed"]


def check_installed() -> None:
    """Raise `Unsupported` where a package is missing that game days need and runs do not."""
    missing = [name for name in ("apprise", "apscheduler", "sqlalchemy") if not find_spec(name)]
    if missing:
        raise Unsupported(
            f"game days need {', '.join(missing)}, which is not installed here",
            how_to_install("gameday"),
        )
