"""Stop conditions, watched all the time: where one is met, the run ends and all is put back.

In an experiment's configuration, or by `--var 'abort_if:json=[…]'`:

    "abort_if": [
        {"availability_below": 0.5, "for_s": 60},
        {"file": "/run/stop-chaos"},
        {"http": "http://127.0.0.1:9000/healthy", "expect": 200, "every_s": 2}
    ]

`brownout abort` leaves a file named `abort` in the run directory, which is watched like these; so
is the free space there.
Probes as conditions are chaostoolkit-addons' safeguards: declare that control beside ours.
"""

import json
import signal
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from brownout.base.errors import BrownoutError, ConfigurationError
from brownout.base.files import private_file
from brownout.base.redact import redact
from brownout.base.settings import Settings
from brownout.faults.open_runs import Claim
from brownout.machine import procfs
from brownout.measure.recovery import availability
from brownout.run.directory import shortage
from brownout.run.series import Series

__all__ = ["ABORT_FILE", "Condition", "StopWatch", "ask_to_stop", "parse_conditions"]

ABORT_FILE = "abort"
POLL_S = 0.2
HTTP_TIMEOUT_S = 5.0


class AvailabilityBelow(Settings):
    """Fewer than this share of what was offered served, for `for_s` seconds on end."""

    availability_below: Annotated[float, Field(gt=0, le=1)]
    for_s: Annotated[float, Field(ge=1)] = 60.0


class FileExists(Settings):
    """A file is there."""

    file: Path


class HttpCheck(Settings):
    """A URL, without a user, answers with another status than `expect`, or not at all."""

    http: Annotated[str, Field(pattern=r"^https?://[^/?#@\s]+([/?#]\S*)?$")]
    expect: int = 200
    every_s: Annotated[float, Field(ge=0.5)] = 2.0


Condition = AvailabilityBelow | FileExists | HttpCheck
_CONDITIONS: TypeAdapter[list[Condition]] = TypeAdapter(list[Condition])


def parse_conditions(value: Any) -> list[Condition]:
    """Read `abort_if`: a list, or its JSON; raises `ConfigurationError` with every problem."""
    try:
        data = json.loads(value) if isinstance(value, str) and value.strip() else value or []
        return _CONDITIONS.validate_python(data)
    except ValidationError as error:
        wanted = "wanted availability_below with for_s, file, or http with expect and every_s"
        positions = sorted({int(e["loc"][0]) for e in error.errors() if e["loc"]})
        raise ConfigurationError([f"abort_if[{i}]: not a condition; {wanted}" for i in positions] or
                                 f"abort_if: {wanted}") from error  # fmt: skip
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"abort_if: not JSON: {error}") from error


def ask_to_stop(claim: Claim, reason: str) -> None:
    """Have what holds a cluster end: a run puts everything back, a load by itself just ends.

    Raises `HostError` where that load runs in another container.
    """
    if claim.kind == "load":
        with procfs.Handle(claim.process) as process:
            process.send(signal.SIGTERM)
        return
    private_file(Path(claim.run) / ABORT_FILE).write_text(reason + "\n", encoding="utf-8")


@dataclass(slots=True)
class StopWatch:
    """Watches conditions from a thread of its own and calls `stop` once, with the reason."""

    conditions: Sequence[Condition]
    abort_file: Path
    series: Callable[[], Series]
    stop: Callable[[str], None]
    _ended: threading.Event = field(default_factory=threading.Event)
    _asked: dict[str, float] = field(default_factory=dict)

    def start(self) -> None:
        """Begin to watch."""
        threading.Thread(target=self._watch, name="stop conditions", daemon=True).start()

    def end(self) -> None:
        """Stop watching."""
        self._ended.set()

    def _watch(self) -> None:
        while not self._ended.wait(POLL_S):
            reason = self._reason()
            if reason is not None and not self._ended.is_set():
                self.stop(reason)
                return

    def _reason(self) -> str | None:
        """Why to stop now, if there is a reason."""
        if self.abort_file.exists():
            text = self.abort_file.read_text(encoding="utf-8", errors="replace").strip()
            return f"brownout abort: {text or 'no reason given'}"
        full = shortage(self.abort_file.parent)
        if full is not None:
            return full
        for condition in self.conditions:
            reason = self._breach(condition)
            if reason is not None:
                return f"stop condition: {reason}"
        return None

    def _breach(self, condition: Condition) -> str | None:
        if isinstance(condition, FileExists):
            return f"the file {condition.file} is there" if condition.file.exists() else None
        if isinstance(condition, HttpCheck):
            return self._http(condition)
        try:
            share = availability(self.series(), condition.for_s)
        except BrownoutError:
            return None  # no load yet
        if share is None or share >= condition.availability_below:
            return None
        return (
            f"availability {100 * share:.1f} % over the last {condition.for_s:g} s "
            f"(limit {100 * condition.availability_below:g} %)"
        )

    def _http(self, condition: HttpCheck) -> str | None:
        """Ask the URL, not more often than it says."""
        now = time.monotonic()
        if now - self._asked.get(condition.http, float("-inf")) < condition.every_s:
            return None
        self._asked[condition.http] = now
        try:
            with urllib.request.urlopen(condition.http, timeout=HTTP_TIMEOUT_S) as answer:
                status: object = answer.status
        except urllib.error.HTTPError as error:
            status = error.code
        except (OSError, HTTPException) as error:
            status = f"no answer ({error})"
        if status == condition.expect:
            return None
        return f"{redact(condition.http)} gave {status}, wanted {condition.expect}"
