"""`python -m brownout.base.leash PARENT MODULE …`: a module that is told to stop when PARENT dies.

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

__all__ = ["leashed", "main"]

_POLL_S = 0.2


def leashed(module: str) -> list[str]:
    """Return the command that runs `module` as a child of this process, and ends with it.

    Its arguments are to follow. The current folder is not on its path: a file there that is called
    like a module of ours would be executed.
    """
    return [sys.executable, "-P", "-m", "brownout.base.leash", str(os.getpid()), module]


def main() -> None:
    """Be the module; end at once where the parent is dead already."""
    parent, module, *arguments = sys.argv[1:]
    if os.getppid() != int(parent):
        sys.exit("brownout: the process that wanted this one is gone")
    threading.Thread(target=_stop_without, args=(int(parent),), name="leash", daemon=True).start()
    sys.argv[1:] = arguments
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _stop_without(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_POLL_S)
    main_thread = threading.main_thread().ident
    assert main_thread is not None
    signal.pthread_kill(main_thread, signal.SIGTERM)


if __name__ == "__main__":
    main()
