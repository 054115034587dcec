"""A program with a status on its screen; ends in the way that its argument says.

python -m tests.show.live.screen_program end|error|signal [SECONDS]
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
    how, seconds = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 1.2
    status = Status(title="a title")
    status.start()
    status.phase = "first phase"
    logger.info("a line of the log")
    print("a line that was printed", flush=True)
    time.sleep(seconds / 2)
    status.phase = "second phase"
    status.progress("loading", 3, 4)
    logger.warning("another line of the log")
    time.sleep(seconds / 2)
    if how == "error":
        raise RuntimeError("an error in the program")
    if how == "signal":
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(10)
    status.stop()
    print("after it", flush=True)


if __name__ == "__main__":
    main()
