"""brownout, as `chaos discover chaostoolkit-brownout` looks for it."""

from brownout import __version__, discover

__all__ = ["__version__", "discover"]
