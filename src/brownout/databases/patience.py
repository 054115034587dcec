"""How long a candidate's answer is waited for, by how long it took before."""

__all__ = ["LEAST_S", "Patience"]

#: So long at least.
LEAST_S = 0.25
#: So many times as long as the fastest answer took.
_TIMES = 3


class Patience:
    """At first `timeout_s`; then three times as long as the fastest answer took, or `LEAST_S`."""

    def __init__(self, timeout_s: float) -> None:
        self.seconds = self._timeout_s = timeout_s

    def took(self, seconds: float) -> None:
        """Note that an answer took so long."""
        enough_s = min(self._timeout_s, max(LEAST_S, _TIMES * seconds))
        self.seconds = min(self.seconds, enough_s)
