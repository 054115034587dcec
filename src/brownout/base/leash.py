"""`python -m brownout.base.leash PARENT …`: Chaos Toolkit that is told to stop when PARENT dies.

Linux sends the signal (prctl(2), PR_SET_PDEATHSIG); it stays set over the exec, so what runs is
Chaos Toolkit and nothing of ours. SIGTERM has it put everything back, as a person's Ctrl-C does.
"""

import ctypes
import os
import signal
import sys

__all__ = ["main"]

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Become Chaos Toolkit; end at once where the parent is dead already."""
    parent, *arguments = sys.argv[1:]
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    if os.getppid() != int(parent):
        sys.exit("brownout: the process that wanted this experiment is gone")
    os.execv(sys.executable, [sys.executable, "-m", "chaostoolkit", *arguments])


if __name__ == "__main__":
    main()
