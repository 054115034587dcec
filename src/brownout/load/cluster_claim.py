"""The claim of a run that lies in the cluster itself, so that a run of another machine sees it.

It names who has the cluster, and ends by itself some minutes after it was renewed last. The load
generator's drivers keep it; nothing of that is part of a load. A fault of ours may make renewals
impossible or lose the claim: neither ends a run, and what is lost is taken again.
"""

import json
import os
import pwd
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Final

from brownout.base.binary import find_loadgen
from brownout.base.errors import BrownoutError, GeneratorError, Refused
from brownout.load.environment import generator_environment

__all__ = ["NAMESPACE", "ClusterClaim", "Holder"]

#: Where the claim lies if it can, whatever the workload's namespace is: runs with different ones
#: measure each other as well.
NAMESPACE: Final = "brownout"
#: Longer than a usual fault keeps the database from taking a renewal.
_TTL_S: Final = 180.0
_EVERY_S: Final = 20.0
#: For one request, and for the end of its process after that.
_WITHIN_S: Final = 15.0
#: For the first one, which may have to make tables; a driver gives up sooner on a silent cluster.
_MADE_WITHIN_S: Final = 180.0
_ENDED_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Holder:
    """Who has a cluster, as the claim in it says; times are seconds of the epoch."""

    token: str
    holder: str
    run: str
    since: float
    until: float

    def __str__(self) -> str:
        return (
            f"the run {self.run} of {self.holder}, since {_clock(self.since)}; its claim in the "
            f"cluster ends at {_clock(self.until)} unless it renews it"
        )


class ClusterClaim:
    """The claim of one run in one cluster.

    `target` is an adapter's `load_spec()` with the workload's options. `namespaces` are where the
    claim may lie: in the first that has a place for it; the last one is the workload's own.
    """

    def __init__(
        self, target: Mapping[str, Any], namespaces: Sequence[str], run: str, token: str
    ) -> None:
        self._target = {name: target[name] for name in ("driver", "connection", "options")}
        self._namespaces = list(dict.fromkeys(namespaces))
        self._mine = Holder(token, _who(), run, time.time(), 0.0)
        self._over = threading.Event()
        self._renewer: threading.Thread | None = None

    def look(self) -> Holder | None:
        """Return who else has the cluster now; None if it is free or ours.

        Raises `GeneratorError` where that cannot be found out.
        """
        return self._other(self._ask("look"))

    def take(self, lost: Callable[[Holder], None]) -> None:
        """Take the cluster and renew the claim until `release`.

        `lost` is called once, from another thread, where another run has taken it meanwhile. Raises
        `Refused` where another run has it, and `GeneratorError` where the cluster keeps no claim.
        """
        answer = self._ask("take", make=True)
        if (other := self._other(answer)) is not None:
            raise Refused(f"the cluster is in the hands of {other}", "wait for it")
        self._namespaces = [str(answer["namespace"])]
        self._renewer = threading.Thread(
            target=self._renew, args=(lost,), name="cluster-claim", daemon=True
        )
        self._renewer.start()

    def release(self) -> None:
        """Remove it, if it is there and ours; where that fails it ends by itself."""
        self._over.set()
        if self._renewer is not None:
            self._renewer.join(_WITHIN_S + _ENDED_S)
        try:
            self._ask("release")
        except BrownoutError:
            return

    def _renew(self, lost: Callable[[Holder], None]) -> None:
        while not self._over.wait(_EVERY_S):
            try:
                other = self._other(self._ask("take"))
            except BrownoutError:
                continue  # as under a fault of ours
            if other is not None and not self._over.is_set():
                lost(other)
                return

    def _other(self, answer: Mapping[str, Any]) -> Holder | None:
        if not answer.get("claim"):
            return None
        holder = Holder(**answer["claim"])
        return None if holder.token == self._mine.token else holder

    def _ask(self, verb: str, make: bool = False) -> Mapping[str, Any]:
        within_s = _MADE_WITHIN_S if make else _WITHIN_S
        order = {
            **self._target,
            "namespaces": self._namespaces,
            "make": make,
            "claim": asdict(self._mine),
            "ttl_s": _TTL_S,
            "within_s": within_s,
        }
        try:
            done = subprocess.run(
                [str(find_loadgen()), "claim", verb],
                input=json.dumps(order),
                capture_output=True,
                text=True,
                env=generator_environment(),
                start_new_session=True,  # a Ctrl-C is ours to handle
                timeout=within_s + _ENDED_S,
                check=False,
            )
            answer: Mapping[str, Any] = json.loads(done.stdout)
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            raise GeneratorError(f"the claim in the cluster: {type(error).__name__}") from error
        if answer.get("error"):
            raise GeneratorError(f"the claim in the cluster: {answer['error']}")
        return answer


def _who() -> str:
    """Return `user@host`."""
    try:
        user = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # as in a container
        user = str(os.getuid())
    return f"{user}@{socket.gethostname()}"


def _clock(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%H:%M:%S} UTC"
