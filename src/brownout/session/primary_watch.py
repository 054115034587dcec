"""Ask each node by itself, again and again, whether it accepts writes: `primaries.csv`."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from brownout.base.errors import BrownoutError
from brownout.base.files import private_file
from brownout.databases.adapter import Candidate, Claim
from brownout.run.primaries import HEADER, Look, look_line

__all__ = ["PrimaryWatch"]

logger = logging.getLogger("chaostoolkit")

EVERY_S = 0.1
#: A node that gives no answer is asked this seldom, since each question takes a new connection.
SILENT_EVERY_S = 0.5
#: A break waits at most this long for every node's first answer: who was primary until then.
FIRST_ANSWERS_S = 1.0
#: So many answers of each node are kept: what it was when a break took effect is asked soon after.
_KEPT = 100


class PrimaryWatch:
    """Asks every candidate from a thread of its own, so that one that hangs delays no other.

    `to_t` turns monotonic seconds into the run's.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        path: Path,
        to_t: Callable[[float | None], float | None],
    ) -> None:
        self._path, self._to_t = path, to_t
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._claims: dict[str, deque[tuple[float, float, bool]]] = {}
        self._answered = [threading.Event() for _ in candidates]
        self._threads = [
            threading.Thread(target=self._watch, args=each, name="primaries", daemon=True)
            for each in zip(candidates, self._answered, strict=True)
        ]

    def start(self) -> None:
        """Begin to ask, and wait for the first answers; does nothing where that has begun.

        With a fault before the first answers it would be unknown which node was primary. No
        node is waited for longer than `FIRST_ANSWERS_S`.
        """
        if not self._threads or self._threads[0].ident:
            return
        private_file(self._path).write_text(",".join(HEADER) + "\n", encoding="utf-8")
        for thread in self._threads:
            thread.start()
        deadline = time.monotonic() + FIRST_ANSWERS_S
        for answered in self._answered:
            answered.wait(max(0.0, deadline - time.monotonic()))

    def claimed(self, node: str, since: float, until: float) -> bool | None:
        """Return what `node` last said of itself between two monotonic times; None for nothing.

        A node that refuses connections says nothing. One that is killed refuses them some
        milliseconds before its process is seen to be gone, 35 ms on a busy machine.
        """
        claims = [
            primary
            for asked, answered, primary in list(self._claims.get(node, ()))
            if since <= asked and answered <= until
        ]
        return claims[-1] if claims else None

    def stop(self) -> None:
        """Stop asking; safe to call again, and before `start`."""
        self._stop.set()
        for thread in self._threads:
            if thread.ident:
                thread.join(timeout=5.0)

    def _watch(self, candidate: Candidate, first: threading.Event) -> None:
        try:
            while not self._stop.is_set():
                asked = time.monotonic()
                claim = self._ask(candidate)
                answered = time.monotonic()
                self._write(candidate, asked, answered, claim)
                if claim is not None and claim.is_own_word:
                    own = self._claims.setdefault(candidate.node, deque(maxlen=_KEPT))
                    own.append((asked, answered, claim.primary))
                first.set()
                every_s = SILENT_EVERY_S if claim is None else EVERY_S
                self._stop.wait(max(0.0, asked + every_s - time.monotonic()))
        except OSError as error:  # a full disk, perhaps: its role is unknown from here on
            logger.warning("%s is not asked any more who is primary: %s", candidate.node, error)
        finally:
            first.set()
            candidate.close()

    @staticmethod
    def _ask(candidate: Candidate) -> Claim | None:
        try:
            return candidate.claim()
        except BrownoutError:
            return None

    def _write(
        self, candidate: Candidate, asked: float, answered: float, claim: Claim | None
    ) -> None:
        begin, end = self._to_t(asked), self._to_t(answered)
        if begin is None or end is None:
            return
        primary, election = (None, "") if claim is None else (claim.primary, claim.election)
        line = look_line(Look(begin, end, candidate.shard, candidate.node, primary, election))
        with self._lock, self._path.open("a", encoding="utf-8") as file:
            file.write(line)
