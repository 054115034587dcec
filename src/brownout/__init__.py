"""brownout: break one thing in a real database cluster under load, and measure the dip."""

from importlib.metadata import version

from brownout.discovery import discover

__all__ = ["__version__", "discover"]

__version__ = version("brownout")
