"""The checks of `brownout doctor`: each looks at one thing and says how to fix it.

A check touches nothing but files of its own, and never raises.
"""

import ctypes
import os
import platform
import resource
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from brownout.base.errors import BrownoutError
from brownout.cli import extras
from brownout.cli.finding import EVERY_RUN, THE_LAB, Finding, program, version_of

if TYPE_CHECKING:
    from brownout.inventory.model import Cluster, Node

__all__ = ["CHECKS", "examine", "examine_for"]

LEAST_FILES = 1024
LEAST_MEMORY = 1_500_000_000
LAB_PORTS = 3
#: Where a load writes that does not say it.
NAMESPACE = "brownout"
#: `adjtimex` answers this where nothing disciplines the clock.
_TIME_ERROR = 5


def examine() -> list[Finding]:
    """Run every check, and look for every optional part."""
    return [*(check() for check in CHECKS), *lab_servers(), *extras.findings()]


def examine_for(name: str) -> list[Finding]:
    """Look at what runs on the cluster `name` need here, and ask it what our login may do there.

    Raises `ConfigurationError` where its inventory cannot be read.
    """
    from brownout.inventory import inventory
    from brownout.session.requirements import requirements

    cluster = inventory.declared(name)
    purpose = f"{EVERY_RUN} on {cluster.name}"
    return [
        *(
            Finding(each.name, each.ok, each.detail, purpose, each.hint or "see docs/clusters.md")
            for each in requirements(cluster)
        ),
        *_grants(name, cluster, purpose),
        *_rights(name, purpose),
    ]


def _rights(name: str, every_run: str) -> Iterator[Finding]:
    """Ask each machine for the helpers of its node, where the inventory wants them."""
    from brownout.inventory import inventory

    try:
        cluster = inventory.load(name)
    except BrownoutError:
        return  # a lab that is down
    for node in cluster.every:
        if getattr(node.host, "sudo", False) == "helpers":
            yield _helpers(cluster, node, every_run)


def _helpers(cluster: "Cluster", node: "Node", every_run: str) -> Finding:
    from brownout.machine.ssh import SshHost
    from brownout.machine.ssh.sudoers import acts_of

    about = f"rights on {node.name}"
    try:
        problems = SshHost(node).missing_rights(acts_of(cluster, node))
    except BrownoutError as error:
        return Finding(about, False, error.message, every_run, error.hint)
    text = "; ".join(problems) or "every helper is there and allowed"
    remedy = "install what `brownout sudoers` writes"
    return Finding(about, not problems, text, every_run, remedy)


def _grants(name: str, declared: "Cluster", every_run: str) -> Iterator[Finding]:
    """Ask the cluster for each privilege that some act needs; a lab that is down is not asked."""
    from brownout.databases.adapter import adapter_for
    from brownout.inventory import inventory
    from brownout.inventory.database import database
    from brownout.session.privileges import is_general, missing, user_of

    grants = list(database(declared.database).grants)
    try:
        cluster = inventory.load(name)
        with closing(adapter_for(cluster)) as adapter:
            absent = missing(cluster, adapter, grants, NAMESPACE)
    except BrownoutError as error:
        if declared.lab is None:
            yield Finding("privileges", False, error.message, every_run, error.hint)
        return
    for grant in grants if absent is not None else ():
        privilege, statement = grant.words(user_of(cluster, grant), NAMESPACE)
        ok = grant not in (absent or ())
        text = ("granted" if ok else "NOT granted") if grant.ask else "not asked; the load tells"
        purpose = every_run if is_general(grant) else f"{', '.join(grant.acts)} on {cluster.name}"
        yield Finding(f"privilege: {privilege}", ok, text, purpose, statement)


def interpreter() -> Finding:
    """The Python that runs this."""
    number = platform.python_version()
    ok = (3, 11) <= sys.version_info[:2] <= (3, 13)
    return Finding("python", ok, f"{number} ({sys.executable})", EVERY_RUN,
                   "use Python 3.11, 3.12 or 3.13; `make setup` looks for one")  # fmt: skip


def chaos_toolkit() -> Finding:
    """Chaos Toolkit and its core."""
    versions = {name: version_of(name) for name in ("chaostoolkit", "chaostoolkit-lib")}
    return Finding("chaos toolkit", all(versions.values()),
                   ", ".join(f"{name} {number or 'missing'}" for name, number in versions.items()),
                   EVERY_RUN, "pip install chaostoolkit")  # fmt: skip


def load_generator() -> Finding:
    """The binary, and that it is of this version; one that a developer has built says `dev`."""
    from brownout.base.binary import find_loadgen, loadgen_version

    remedy = "build it by `make setup`, or install a wheel of brownout for this platform"
    try:
        path, number = find_loadgen(), loadgen_version()
    except BrownoutError as error:
        return Finding("load generator", False, str(error.message), EVERY_RUN, remedy)
    ours = version("brownout")
    ok = number.startswith((ours, "dev"))
    text = f"{number} ({path})" + ("" if ok else f", but brownout is {ours}")
    return Finding("load generator", ok, text, EVERY_RUN, remedy)


def disk() -> Finding:
    """Room for the files of a run, where runs are written."""
    from brownout.run.directory import LEAST_FREE_BYTES, runs_root

    root = runs_root().absolute()
    there = next(path for path in (root, *root.parents) if path.exists())
    free = shutil.disk_usage(there).free
    ok = free >= LEAST_FREE_BYTES and os.access(there, os.W_OK)
    writable = "" if os.access(there, os.W_OK) else ", not writable"
    return Finding("disk", ok, f"{free / 1e9:,.1f} GB free for {root}{writable}", EVERY_RUN,
                   f"free {LEAST_FREE_BYTES / 1e6:.0f} MB, or set BROWNOUT_RUNS")  # fmt: skip


def open_files() -> Finding:
    """Connections are files."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return Finding("open files", soft >= LEAST_FILES, f"{soft:,} a process", EVERY_RUN,
                   f"`ulimit -n {LEAST_FILES}` or more in the shell that runs it")  # fmt: skip


def left_behind() -> Finding:
    """Runs that died with a cluster in their hands."""
    from brownout.faults import open_runs

    try:
        dead = [claim for claim in open_runs.claims() if not claim.is_alive()]
    except BrownoutError as error:
        return Finding("earlier runs", False, error.message, EVERY_RUN, error.hint)
    runs = ", ".join(f"{claim.run} died holding {claim.cluster}" for claim in dead)
    return Finding("earlier runs", not dead, runs or "none left anything broken", EVERY_RUN,
                   "`brownout heal` puts back what they broke")  # fmt: skip


def lab_servers() -> list[Finding]:
    """A server of each database for its labs."""
    from brownout.inventory.database import databases

    return [_server(name, one.lab_server) for name, one in databases().items() if one.lab_server]


def _server(database: str, find: Callable[[], object]) -> Finding:
    name, remedy = f"server: {database}", "docs/lab.md says how to have one"
    try:
        return Finding(name, True, str(find()), THE_LAB, remedy)
    except BrownoutError as error:
        return Finding(name, False, error.message, THE_LAB, error.hint or remedy)


def memory() -> Finding:
    """Three idle members take some 400 MB; a wipe's re-sync takes more."""
    free = _available_memory()
    return Finding("memory", free >= LEAST_MEMORY, f"{free / 1e9:.1f} GB available", THE_LAB,
                   f"have {LEAST_MEMORY / 1e9:.1f} GB available for three members")  # fmt: skip


def processors() -> Finding:
    """The load, the cluster and the measuring share them."""
    count = len(os.sched_getaffinity(0))
    return Finding("processors", count >= 2, str(count), THE_LAB,
                   "a lab on one processor measures the processor; use two or more")  # fmt: skip


def ports() -> Finding:
    """Ports of loopback that a killed member gets back."""
    from brownout.databases.lab.ports import free_ports

    try:
        text, ok = f"free: {', '.join(map(str, free_ports(LAB_PORTS)))}, …", True
    except BrownoutError as error:
        text, ok = error.message, False
    return Finding("ports", ok, text, THE_LAB, "stop what listens on so many ports")


def clock() -> Finding:
    """Wall-clock stamps of several machines can only be compared where each is set right."""
    state = _clock_state()
    text = {None: "cannot be asked", _TIME_ERROR: "not synchronised"}.get(state, "synchronised")
    return Finding("clock", state not in (None, _TIME_ERROR), text,
                   "comparing times with other machines' logs",
                   "run chrony or systemd-timesyncd; in a container, on its host")  # fmt: skip


def prometheus() -> Finding:
    """Return whether there is a Prometheus to start."""
    return program("prometheus", "`brownout observe up`", "apt install prometheus")


def sshd() -> Finding:
    """A server to try the ssh host against."""
    return program("sshd", "the tests of nodes over ssh", "install openssh-server")


def chromium() -> Finding:
    """A browser that opens the report without a screen."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return program(names, "the tests of the report in a browser", "install chromium")


def slow_links() -> Finding:
    """Slow nodes by the kernel; it is tried."""
    from brownout.databases.lab.proxies import find_toxiproxy
    from brownout.machine import netem

    text = "can be used"
    if reason := netem.why_not_here():
        try:
            find_toxiproxy()
            text = f"{reason}; toxiproxy does it instead"
        except BrownoutError as error:
            text = f"{reason}; {error.message}"
    return Finding("netem", not reason, text, "slow nodes by the kernel (slow-node)",
                   "run as root on a kernel with sch_netem")  # fmt: skip


def packet_filter() -> Finding:
    """Partitions."""
    return program("nft", "network faults that you write yourself", "install nftables")


def namespaces() -> Finding:
    """Networks of their own on one machine."""
    from brownout.machine import network

    reason = network.why_not()
    return Finding("network namespaces", not reason, reason or "can be made",
                   "partitions of a lab (partition, write-concern-1)",
                   "run as root, in a container with CAP_NET_ADMIN and CAP_SYS_ADMIN")  # fmt: skip


def loop_devices() -> Finding:
    """Files that are block devices, to wipe for practice."""
    ok = os.access("/dev/loop-control", os.W_OK) and shutil.which("losetup") is not None
    return Finding("loop devices", ok, "can be made" if ok else "cannot be made here",
                   "the tests of wiping a block device",
                   "run as root with /dev/loop-control and losetup")  # fmt: skip


CHECKS: tuple[Callable[[], Finding], ...] = (
    interpreter,
    chaos_toolkit,
    load_generator,
    disk,
    open_files,
    left_behind,
    memory,
    processors,
    ports,
    prometheus,
    clock,
    sshd,
    chromium,
    loop_devices,
    namespaces,
    slow_links,
    packet_filter,
)


def _available_memory() -> int:
    """Bytes that new processes can have, within this container's limit where there is one."""
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines if "kB" in line}
    free = sizes.get("MemAvailable", 0)
    try:
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii"))
        used = int(Path("/sys/fs/cgroup/memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return free  # no limit: the file says `max`, or there is none
    return min(free, limit - used)


def _clock_state() -> int | None:
    """What the kernel says of its clock (`adjtimex`); None where it cannot be asked."""
    room = ctypes.create_string_buffer(512)  # a zeroed `struct timex`: read, change nothing
    try:
        state = int(ctypes.CDLL(None, use_errno=True).adjtimex(room))
    except (OSError, AttributeError):
        return None
    return None if state < 0 else state
