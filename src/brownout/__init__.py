"""brownout: break one thing in a real database cluster under load, and measure the dip."""

from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chaoslib.types import Discovery

__all__ = ["__version__", "discover"]

__version__ = version("brownout")


def discover(discover_system: bool = True) -> "Discovery":
    """Return the activities of this package, for `chaos discover brownout`."""
    # Imported late: pytest imports this package wherever brownout is installed.
    from brownout.session import discovery

    return discovery.discover(discover_system)
