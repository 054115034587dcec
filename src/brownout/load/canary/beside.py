"""Start and end a canary beside the load. If it fails, the run continues."""

import contextlib
import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any, Final

from brownout.base.errors import BrownoutError
from brownout.base.wait import wait_until
from brownout.inventory.canary import CanarySpec
from brownout.load.environment import generator_environment
from brownout.run.directory import RunDirectory
from brownout.run.metadata import read_json, write_json

__all__ = ["CanaryBeside"]

logger = logging.getLogger("chaostoolkit")

#: A canary that was told to end has so long for it, removing its records included; then the kernel
#: ends it, and after as much again we do.
_WITHIN_S: Final = 4.0
#: The method waits so long at most for a canary that is slow to begin.
BEGUN_WITHIN_S: Final = 30.0


class CanaryBeside:
    """One canary; `start` and `end` raise nothing, and what went wrong is in `canary.json`."""

    def __init__(
        self, spec: CanarySpec, directory: RunDirectory, within_s: float = _WITHIN_S
    ) -> None:
        self._spec, self._directory, self._within_s = spec, directory, within_s
        self._process: subprocess.Popen[bytes] | None = None
        self._over = False

    @property
    def pid(self) -> int | None:
        """The id of its process; None before it started."""
        return self._process.pid if self._process is not None else None

    @property
    def alive(self) -> bool:
        """Whether its process runs."""
        return self._process is not None and self._process.poll() is None

    def start(self, load_spec: Mapping[str, Any], now: float) -> None:
        """Start it on what the generator's `load_spec` connects to; the run is at `now` seconds."""
        about = {
            "rate": self._spec.rate,
            "threads": self._spec.threads,
            "policies": self._spec.policies,
        }
        orders = {
            "spec": self._spec.model_dump(),
            "database": load_spec["driver"],
            "connection": load_spec["connection"],
            "options": load_spec["options"],
            "namespace": load_spec["namespace"],
            "within_s": self._within_s,
            "zero": time.monotonic() - now,
            "about": about,
            "about_path": str(self._directory.canary.resolve()),
            "calls": str(self._directory.canary_calls.resolve()),
        }
        try:
            write_json(self._directory.canary, about)
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "brownout.load.canary.process"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=_environment(),
                start_new_session=True,  # a Ctrl-C is for the run, which ends it
            )
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(orders).encode() + b"\n")
            self._process.stdin.flush()
        except (BrownoutError, OSError) as error:
            logger.warning(f"the canary did not start: {error}")

    def await_begun(self, within_s: float = BEGUN_WITHIN_S) -> None:
        """Wait until it has written its records and begun; no longer than `within_s` seconds."""

        def begun() -> bool:
            with contextlib.suppress(BrownoutError):
                return "began_t" in read_json(self._directory.canary)
            return False

        wait_until(begun, within_s, 0.05, stopped=lambda: not self.alive)

    def end(self) -> None:
        """Have it end, and wait for that; say where it did not do its work."""
        process = self._process
        if process is None or self._over:
            return
        self._over = True
        died = process.poll()
        with contextlib.suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()
        try:
            code = process.wait(2 * self._within_s)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        try:
            self._judge(died, code)
        except BrownoutError as error:
            logger.warning(f"canary: not measured: {error}")

    def _judge(self, died: int | None, code: int) -> None:
        """Write down why there is no result, if there is none; say what it left."""
        about = read_json(self._directory.canary)
        if about.get("ended") is not True:
            why = str(about.get("detail") or self._obituary(died, code))
            write_json(self._directory.canary, {**about, "detail": why})
            logger.warning(f"canary: not measured: {why}")
        if "began_t" in about and about.get("removed") is not True:
            logger.warning("canary: some of its records are left; `brownout clean` removes them")

    def _obituary(self, died: int | None, code: int) -> str:
        """Say how the process ended that said nothing of its end itself."""
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        if died is not None:
            return f"its process died during the run ({how})"
        return f"it had not ended {self._within_s:g} s after it was told to ({how})"


def _environment() -> dict[str, str]:
    """Return what a generator gets, and what Python needs to find the same packages."""
    python = {k: v for k, v in os.environ.items() if k.startswith(("PYTHON", "VIRTUAL_ENV"))}
    return {**python, **generator_environment()}
