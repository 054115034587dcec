"""What of our environment the load generator gets: what it needs, and so no secret.

An inventory's `{env: NAME}` puts passwords into our environment, and everybody of the same user can
read that of a process (`/proc/PID/environ`). The generator is told its secrets over its input.
"""

import os
from collections.abc import Mapping

__all__ = ["generator_environment"]

_NAMES = frozenset({"HOME", "LANG", "PATH", "SSL_CERT_DIR", "SSL_CERT_FILE", "TMPDIR", "TZ"})
#: Of the Go runtime, as GODEBUG and GOMAXPROCS, and of the locale.
_BEGINNINGS = ("GO", "LC_")


def generator_environment(ours: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables that a generator on this machine is started with."""
    return {
        name: value
        for name, value in ours.items()
        if name in _NAMES or name.startswith(_BEGINNINGS)
    }
