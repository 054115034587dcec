"""A folder to work in, with its own runs and state."""

from tests.cli.conftest import brownout, home

__all__ = ["brownout", "home"]
