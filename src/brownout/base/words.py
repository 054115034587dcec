"""Figures as people say them."""

__all__ = ["duration"]


def duration(seconds: float) -> str:
    """`2 ms`, `0.35 s`, `2.9 s`, `15.2 s`, `3 min 20 s`."""
    if seconds >= 120:
        return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
    if 0 < seconds < 0.01:
        return f"{seconds * 1000:.2g} ms"
    digits = 1 if seconds >= 1 or seconds == 0 else 2
    return f"{seconds:.{digits}f}".rstrip("0").rstrip(".") + " s"
