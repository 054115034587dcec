"""What a plan says of a pod, and what the kernel shields a process from."""

from pathlib import Path

import pytest
from tests.machine.kubernetes import apiobjects as api

from brownout.base.errors import Unsupported
from brownout.machine.kubernetes import KubernetesSpec, calls, stop
from brownout.machine.kubernetes import pod as pods
from brownout.machine.kubernetes.location import Located
from brownout.machine.kubernetes.pod import HELD
from brownout.machine.processes import Process

_POD = "/api/v1/namespaces/databases/pods/db-0"
_SPEC = KubernetesSpec(
    namespace="databases", pod="db-0", container="mongod", program="mongod", claims=("data-db-0",)
)


def _process(pid: int) -> Process:
    command = ("mongod", "--dbpath", "/data/db")
    return Process(pid, 4711, frozenset("S"), "mongod", "/usr/bin/mongod", command, 0.0, 0.0)


def _planned(act: str, pid: int | None = 17) -> str:
    found = Located(pods.read(api.pod()), _process(pid) if pid else None)
    return calls.of(act, _SPEC, found, [Path("/data/db")])


def test_a_plan_has_every_call_of_every_act() -> None:
    hold = f"PATCH {_POD} (finalizer {HELD})"
    within = f"exec in container mongod of {_POD}"
    assert _planned("stop") == f"{hold}; DELETE {_POD} (gracePeriodSeconds 30)"
    assert _planned("kill") == (
        f"{hold}; {within}: SIGKILL to process 17; DELETE {_POD} (gracePeriodSeconds 0)"
    )
    assert _planned("kill", 1) == f"{hold}; DELETE {_POD} (gracePeriodSeconds 0)"
    assert _planned("pause") == f"{within}: SIGSTOP to process 17"
    assert _planned("resume", None) == f"{within}: SIGCONT to process none yet"
    assert _planned("start").startswith(f"PATCH {_POD} (without {HELD})")
    claim = "/api/v1/namespaces/databases/persistentvolumeclaims/data-db-0"
    assert _planned("wipe").endswith(f"empty /data/db; DELETE {claim}")
    assert _planned("reboot").startswith("skipped")


def test_only_the_first_process_is_shielded_and_a_deletion_may_be_wanted_for_its_kill() -> None:
    stop.check_killable(_SPEC, _process(17))
    stop.check_pausable(_SPEC, _process(17))
    with pytest.raises(Unsupported, match=r"cannot be killed.*PID 1.*nothing is touched"):
        stop.check_killable(_SPEC, _process(1))
    wanted = _SPEC.model_copy(update={"kill_by_deletion": True})
    stop.check_killable(wanted, _process(1))
    with pytest.raises(Unsupported, match=r"cannot be paused.*shareProcessNamespace"):
        stop.check_pausable(wanted, _process(1))
