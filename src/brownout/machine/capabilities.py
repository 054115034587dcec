"""What the kernel lets this process do besides what every process may: capabilities(7)."""

from pathlib import Path

__all__ = ["CAP_NET_ADMIN", "CAP_SYS_ADMIN", "CAP_SYS_NICE", "may"]

#: By their numbers in capability.h.
CAP_NET_ADMIN, CAP_SYS_ADMIN, CAP_SYS_NICE = 12, 21, 23


def may(*capabilities: int) -> bool:
    """Whether this process has all of these capabilities."""
    try:
        text = Path("/proc/self/status").read_text(encoding="ascii")
        held = int(text.partition("CapEff:")[2].split()[0], 16)
    except (OSError, ValueError, IndexError):
        return False
    return all(held >> number & 1 for number in capabilities)
