"""Each system call of a heal fails once: what was broken is put back, or the heal says otherwise.

A run breaks a node of a lab and is killed. Then strace makes one call of `brownout heal` fail (its
`inject`), with an error that the call may really meet. Whatever fails, no other node is touched, a
heal that says nothing has put everything back, and one that failed is healed by the next.

The programs that a heal starts, shells and servers, are left alone. The calls are those from the
first look at a claim on: what is before is Python's own start. Of calls that differ in numbers
alone, as a look at each process does, or in the module that they import, one is drawn from
BROWNOUT_SOAK_SEED. BROWNOUT_SOAK_CALLS of what is left are tried for each fault (4 of `make
matrix`, 100 of `make soak`); 0 is all.
"""

import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests import kill_harness
from tests.own_lab import own_lab
from tests.waiting import await_whole

from brownout.databases.adapter import adapter_for
from brownout.databases.lab import file_systems
from brownout.inventory.model import Cluster
from brownout.machine import leftovers, network
from brownout.machine.host import host_for

SEED = int(os.environ.get("BROWNOUT_SOAK_SEED", "4711"))
CALLS = int(os.environ.get("BROWNOUT_SOAK_CALLS", "4"))

_DISK = pytest.mark.skipif(bool(file_systems.why_not()), reason=f"{file_systems.why_not()}")
_LINK = pytest.mark.skipif(bool(network.why_not()), reason=f"{network.why_not()}")
#: What is broken, on which lab.
CASES = [
    pytest.param("lab-etcd", "kill_node", {}, id="kill_node"),
    pytest.param("lab-etcd", "pause_node", {"undo_after_s": 600}, id="pause_node"),
    pytest.param("lab-etcd-partition", "partition_node", {"undo_after_s": 600},
                 id="partition_node", marks=_LINK),
    pytest.param("lab-etcd-disk", "stall_disk", {"undo_after_s": 600},
                 id="stall_disk", marks=_DISK),
    pytest.param("lab-etcd-disk", "fill_disk", {"undo_after_s": 600},
                 id="fill_disk", marks=_DISK),
]  # fmt: skip
#: What a call may fail with; EIO where it is not here.
ERRORS = {
    **dict.fromkeys(("openat", "socket", "pipe2", "pidfd_open", "epoll_create1", "dup"), "EMFILE"),
    **dict.fromkeys(("write", "pwrite64", "mkdir", "link", "ftruncate"), "ENOSPC"),
    **dict.fromkeys(("mmap", "mremap"), "ENOMEM"),
    **dict.fromkeys(("clone", "clone3", "fork", "vfork"), "EAGAIN"),
    **dict.fromkeys(("kill", "pidfd_send_signal", "setsid"), "EPERM"),
    **dict.fromkeys(("sendto", "sendmsg"), "EPIPE"),
    **dict.fromkeys(("recvfrom", "recvmsg", "getsockopt", "setsockopt"), "ECONNRESET"),
    "connect": "ECONNREFUSED",
    "flock": "ENOLCK",
    "fcntl": "EMFILE",
}
#: What no kernel refuses a process like this.
NEVER_FAIL = {
    "access", "arch_prctl", "brk", "clock_gettime", "clock_nanosleep", "exit", "exit_group",
    "futex", "getcwd", "getegid", "geteuid", "getgid", "getpid", "getppid", "getrandom",
    "getsockname", "gettid", "getuid", "madvise", "mprotect", "munmap", "poll", "prlimit64",
    "restart_syscall", "rseq", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn",
    "sched_getaffinity", "sched_yield", "set_robust_list", "set_tid_address", "sigaltstack",
    "sysinfo", "umask", "uname", "wait4", "waitid", "execve",
}  # fmt: skip
#: A file that Python imports, or a directory in which it looks for one.
_MODULE = re.compile(r'[^"<>]*/(?:src|site-packages|lib/python3[.]\d+)/[^"<>]*')

pytestmark = [
    pytest.mark.matrix,
    pytest.mark.soak,
    pytest.mark.timeout(600 + CALLS * 60 if CALLS else 0),
    pytest.mark.skipif(not shutil.which("strace"), reason="NOT TESTED: strace is not installed"),
]

#: A run, as far as its fault goes.
_RUN = """\
import json, sys
from pathlib import Path
from brownout.databases.adapter import adapter_for
from brownout.faults import cluster_record, open_runs
from brownout.faults.claimed_nodes import nodes_of
from brownout.faults.faults import Faults
from brownout.inventory import inventory
from brownout.run.events import EventLog
name, run = sys.argv[1], Path(sys.argv[2])
cluster = inventory.load(name)
open_runs.claim(name, run, name, brought_up=False, nodes=nodes_of(cluster))
cluster_record.write(run, name, cluster)
faults = Faults(cluster, adapter_for(cluster), EventLog(run / "events.ndjson"), float)
faults.run(sys.argv[3], cluster.node(sys.argv[4]), **json.loads(sys.argv[5]))
print("broken", flush=True)
sys.stdin.read()
"""


@dataclass(frozen=True)
class Call:
    """One system call of a heal: the `number`-th of its name."""

    name: str
    number: int

    def __str__(self) -> str:
        return f"{self.name} {self.number} ({self.error})"

    @property
    def error(self) -> str:
        return ERRORS.get(self.name, "EIO")


class Patient:
    """A cluster of which runs break the first node, and die."""

    def __init__(self, cluster: Cluster, where: Path, fault: str, arguments: dict[str, Any]):
        self.cluster, self._where, self._fault, self._arguments = cluster, where, fault, arguments
        self._runs = 0

    @property
    def claim(self) -> Path:
        return self._where / "state" / "open" / f"{self.cluster.name}.json"

    def pids(self) -> dict[str, int | None]:
        """The process of each node that nothing is done to."""
        return {node.name: host_for(node).running().pid for node in self.cluster.nodes[1:]}

    def break_it(self) -> None:
        """Have a run break the first node, and kill it."""
        self._runs += 1
        run = self._where / f"run{self._runs}"
        run.mkdir()
        words = [self.cluster.name, str(run), self._fault, self.cluster.nodes[0].name,
                 json.dumps(self._arguments)]  # fmt: skip
        pipe = subprocess.PIPE
        with subprocess.Popen(
            [sys.executable, "-c", _RUN, *words],
            stdin=pipe, stdout=pipe, env=self._environment(), text=True,
        ) as process:  # fmt: skip
            assert process.stdout is not None
            assert process.stdout.readline() == "broken\n"
            kill_harness.kill_tree(process.pid)
        assert self.claim.exists()
        assert self.broken()

    def broken(self) -> list[str]:
        """What is still wrong with the first node, by its host and by our marks on it."""
        node = self.cluster.nodes[0]
        host = host_for(node)
        state = host.running()
        wrong = [] if state.running else ["it is stopped"]
        wrong += ["it is paused"] if state.paused else []
        marks = [(module.__name__, module.left_on(node, host)) for module in leftovers.modules()]
        return wrong + [f"{name}: {left}" for name, left in marks if left]

    def heal(self, *tracer: str) -> subprocess.CompletedProcess[str]:
        """Run `brownout heal`, under strace where it is told what to do."""
        # Detached when they become another program, so that a started server is not traced.
        strace = ["strace", "-f", "-b", "execve", "-qq", *tracer] if tracer else []
        return subprocess.run(
            [*strace, sys.executable, "-m", "brownout", "heal", self.cluster.name],
            env=self._environment(), capture_output=True, text=True, timeout=180,
        )  # fmt: skip

    def calls(self) -> list[list[Call]]:
        """The calls of a heal from its first look at the claim on, in its first thread.

        Those that differ in numbers or modules alone are in one list.
        """
        log = self._where / "calls"
        healed = self.heal("-y", "-o", str(log))
        assert healed.returncode == 0, healed.stderr
        seen, first, begun = Counter[str](), "", False
        kinds: dict[str, list[Call]] = {}
        for line in log.read_text(errors="replace").splitlines():
            pid, _, rest = line.partition(" ")
            first = first or pid
            if pid != first or not (match := re.match(r"(\w+)\((.*)", rest.lstrip())):
                continue
            name = match[1]
            seen[name] += 1
            begun = begun or self.claim.name in rest
            if begun and name not in NEVER_FAIL:
                asked = match[2].rpartition(") = ")[0] or match[2]
                if name in ("read", "write"):  # of which file, and not what
                    asked = asked.partition(",")[0]
                kind = re.sub(r"0x[0-9a-f]+|\d+", "N", _MODULE.sub("MODULE", f"{name} {asked}"))
                kinds.setdefault(kind, []).append(Call(name, seen[name]))
        return list(kinds.values())

    def _environment(self) -> dict[str, str]:
        return {
            **os.environ, "BROWNOUT_STATE": str(self._where / "state"),
            "TMPDIR": str(self._where), "PYTHONHASHSEED": "0",
        }  # fmt: skip


@pytest.fixture
def patient(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Patient]:
    name, fault, arguments = request.param
    with own_lab(name, tmp_path / "lab", monkeypatch) as cluster:
        where = tmp_path / "runs"
        where.mkdir()
        yield Patient(cluster, where, fault, arguments)


@pytest.mark.parametrize(
    "patient", [pytest.param(one.values, id=one.id, marks=one.marks) for one in CASES],
    indirect=True,
)  # fmt: skip
def test_a_heal_of_which_a_system_call_fails_puts_everything_back_or_says_that_it_did_not(
    patient: Patient,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    traced = tmp_path / "traced"
    patient.break_it()
    every = patient.calls()
    assert patient.broken() == []
    drawn = random.Random(f"{SEED} {request.node.callspec.id}")
    kinds = drawn.sample(every, min(CALLS, len(every))) if CALLS else every
    calls = [drawn.choice(kind) for kind in kinds]
    ends = Counter[str]()
    wrong = []
    for number, call in enumerate(calls, start=1):
        patient.break_it()
        pids = patient.pids()
        inject = f"inject={call.name}:error={call.error}:when={call.number}"
        healed = patient.heal("-o", str(traced), "-e", f"trace={call.name}", "-e", inject)
        failed = "(INJECTED)" in traced.read_text(errors="replace")
        said = (healed.stdout + healed.stderr).strip()
        left, held = patient.broken(), patient.claim.exists()
        if healed.returncode == 0 and (left or held):
            wrong.append(f"{call}: it said that all is well: {left}, {held=}: {said}")
        if healed.returncode != 0 and not said:
            wrong.append(f"{call}: exit code {healed.returncode}, and not a word")
        if "Traceback" in said:
            wrong.append(f"{call}: {said}")
        end = "put back" if healed.returncode == 0 else "said that it failed"
        ends[end if failed else "not come to"] += 1
        if healed.returncode != 0:
            again = patient.heal()
            if again.returncode != 0 or patient.broken() or patient.claim.exists():
                wrong.append(f"{call}: {said}; and again: {again.stdout}{again.stderr}")
        if patient.pids() != pids:
            wrong.append(f"{call}: another node was started or ended")
        with capsys.disabled():
            print(f"{number:3d}/{len(calls)} {call}: {healed.returncode} "
                  f"{said.splitlines()[-1:]}", flush=True)  # fmt: skip
    with closing(adapter_for(patient.cluster)) as adapter:
        await_whole(adapter)
    with capsys.disabled():
        print(f"{len(calls)} of {len(every)} kinds of calls: {dict(ends)}", flush=True)
    assert wrong == []
    assert ends["not come to"] < len(calls), "no call failed"
