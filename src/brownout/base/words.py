"""Figures as people say them."""

__all__ = ["duration"]


def duration(seconds: float) -> str:
    """`2 ms`, `0.35 s`, `2.9 s`, `15.2 s`, `3 min 20 s`, `2 h 5 min`."""
    if seconds >= 7200:
        hours, minutes = divmod(round(seconds / 60), 60)
        return f"{hours} h {minutes} min"
    if seconds >= 120:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest} s"
    if 0 < seconds < 0.01:
        return f"{seconds * 1000:.2g} ms"
    digits = 1 if seconds >= 1 or seconds == 0 else 2
    return f"{seconds:.{digits}f}".rstrip("0").rstrip(".") + " s"
