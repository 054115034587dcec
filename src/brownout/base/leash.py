"""`python -m brownout.base.leash PARENT …`: Chaos Toolkit that is told to stop when PARENT dies.

It gets one SIGTERM, which has it put everything back, as a person's Ctrl-C does. The kernel's own
signal (prctl(2), PR_SET_PDEATHSIG) will not do: a dying process hands its children from thread to
thread, each time with a signal, and a second one ends Chaos Toolkit's rollbacks.
"""

import os
import runpy
import signal
import sys
import threading
import time

__all__ = ["main"]

_POLL_S = 0.2


def main() -> None:
    """Be Chaos Toolkit; end at once where the parent is dead already."""
    parent, *arguments = sys.argv[1:]
    if os.getppid() != int(parent):
        sys.exit("brownout: the process that wanted this experiment is gone")
    threading.Thread(target=_stop_without, args=(int(parent),), name="leash", daemon=True).start()
    sys.argv[1:] = arguments
    runpy.run_module("chaostoolkit", run_name="__main__", alter_sys=True)


def _stop_without(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_POLL_S)
    main_thread = threading.main_thread().ident
    assert main_thread is not None
    signal.pthread_kill(main_thread, signal.SIGTERM)


if __name__ == "__main__":
    main()
