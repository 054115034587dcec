"""A folder to work in, with its own runs and state, and a world to explore."""

from tests.cli.conftest import brownout, home
from tests.runs.explore.world import explore

__all__ = ["brownout", "explore", "home"]
