"""A program with a status on its screen; ends in the way that its argument says.

python -m tests.show.live.screen_program end|error|signal [held]

With `held` it goes on from each of its two phases when it gets SIGUSR1: when that is on the screen.
"""

import logging
import os
import signal
import sys
import time

from chaoslib.log import configure_logger

from brownout.session.status import Status


def main() -> None:
    configure_logger()
    logger = logging.getLogger("chaostoolkit")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
    how, held = sys.argv[1], "held" in sys.argv[2:]
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})  # of every thread: we wait
    status = Status(title="a title")
    status.start()
    status.phase = "first phase"
    logger.info("a line of the log")
    print("a line that was printed", flush=True)
    if held:
        signal.sigwaitinfo({signal.SIGUSR1})
    status.phase = "second phase"
    status.progress("loading", 3, 4)
    logger.warning("another line of the log")
    if held:
        signal.sigwaitinfo({signal.SIGUSR1})
    if how == "error":
        raise RuntimeError("an error in the program")
    if how == "signal":
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(10)
    status.stop()
    print("after it", flush=True)


if __name__ == "__main__":
    main()
