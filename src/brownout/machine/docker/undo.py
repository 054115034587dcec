"""The dead man's switch of a container: a process of this machine that asks its engine to undo.

The engine freezes a container from outside, so that no signal in it would help: the engine has to
be asked. A small process in a session of its own sleeps here and then asks it, without us, to
resume that very life of the container. It is found again by its command line and by nothing else:

    python -c … 120 {"engine": …} {} brownout-undo-docker-pause ID STARTED
    python -c … 120 {"engine": …} {"CpuQuota": -1} brownout-undo-docker-cpu ID STARTED
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from brownout.base.errors import BrownoutError, HostError
from brownout.base.secret import environment_without_secrets
from brownout.base.wait import wait_until
from brownout.machine import procfs
from brownout.machine.docker.container import Container, locate
from brownout.machine.docker.engine import connected
from brownout.machine.docker.spec import EngineSettings
from brownout.machine.procfs import Handle, Identity

__all__ = [
    "CPU_MARK",
    "MARK",
    "MEMORY_MARK",
    "arm",
    "armed",
    "cancel",
    "main",
    "update",
    "value_of",
]

#: What a switch undoes: a pause, or another limit.
MARK = "brownout-undo-docker-pause"
CPU_MARK = "brownout-undo-docker-cpu"
MEMORY_MARK = "brownout-undo-docker-memory"
#: An engine that does not answer at that moment is asked again for so long.
_PATIENCE_S = 600.0
_AGAIN_S = 1.0
_PROGRAM = "from brownout.machine.docker import undo; undo.main()"
_READY_S = 30.0
_GONE_S = 5.0


def arm(
    settings: EngineSettings,
    container: Container,
    after_s: float,
    mark: str = MARK,
    value: Mapping[str, int] | None = None,
) -> int:
    """Start a switch for this life of the container and return its process id.

    `mark` says what it undoes, and `value` the limits that it sets. Call it before the act. One
    that was armed before is replaced, never left without one in between. Raises `HostError` if it
    does not run or cannot reach the engine.
    """
    earlier = armed(container, mark)
    engine = json.dumps(settings.only_engine().model_dump(mode="json"))
    command = [sys.executable, "-P", "-c", _PROGRAM, f"{after_s:g}", engine]
    command += [json.dumps(dict(value or {})), *_words(container, mark)]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_READY_S,
            env=environment_without_secrets(),
            check=True,
        )
    except subprocess.SubprocessError as error:
        reason = getattr(error, "stderr", "") or str(error)
        raise HostError(f"no dead man's switch could be started: {str(reason).strip()}") from error
    _end(earlier)
    return int(done.stdout)


def cancel(container: Container, mark: str = MARK) -> list[int]:
    """End every switch of this life; return their ids. Call it after the undo."""
    switches = armed(container, mark)
    _end(switches)
    return [identity.pid for identity in switches]


def armed(container: Container, mark: str = MARK) -> list[Identity]:
    """Return the switches that wait for this life of the container."""
    return procfs.find(_words(container, mark))


def value_of(switch: Identity) -> dict[str, int]:
    """Return the limits that a switch sets."""
    values: dict[str, int] = json.loads(switch.command[-4])
    return values


def update(client: Any, container: str, limits: Mapping[str, int]) -> None:
    """Give a container these limits, as `docker update` does.

    `APIClient.update_container` of docker-py 7 has no NanoCpus, so the endpoint is called here
    (Engine API, ContainerUpdate).
    """
    url = f"{client.base_url}/v{client.api_version}/containers/{container}/update"
    reply = client.post(url, json=dict(limits))
    client._raise_for_status(reply)


def main() -> None:
    """Be the switch: see that the engine answers, detach from the caller, wait, resume."""
    after_s, engine, value, mark, container_id, started = sys.argv[1:]
    settings = EngineSettings.model_validate_json(engine)
    try:
        with connected(settings) as client:
            locate(client, "of the switch", container_id)
    except BrownoutError as error:
        sys.exit(str(error))
    deadline = time.monotonic() + float(after_s)  # the pause comes next, however long this took
    child = os.fork()
    if child:
        print(child, flush=True)
        return
    os.setsid()
    silent = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(silent, fd)
    time.sleep(max(0.0, deadline - time.monotonic()))
    _undo(settings, container_id, started, json.loads(value) if mark != MARK else None)


def _undo(
    settings: EngineSettings, container_id: str, started: str, limits: Mapping[str, int] | None
) -> None:
    def undone() -> bool:
        with connected(settings) as client:
            there = locate(client, "of the switch", container_id)
            if there.started != started:
                return True
            if limits is not None:
                update(client, container_id, limits)
            elif there.paused:
                client.unpause(container_id)
        return True

    with contextlib.suppress(BrownoutError):
        wait_until(undone, _PATIENCE_S, _AGAIN_S, despite=BrownoutError)


def _words(container: Container, mark: str) -> tuple[str, ...]:
    return (mark, container.id, container.started)


def _end(switches: Sequence[Identity]) -> None:
    for identity in switches:
        with contextlib.suppress(HostError), Handle(identity) as handle:  # it ended by itself
            handle.send(signal.SIGTERM)
            handle.wait_gone(_GONE_S)
