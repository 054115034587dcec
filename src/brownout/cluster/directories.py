"""Emptying a data directory of another machine or of a container: first every reason not to.

The facts are gathered there; what they mean is decided here by pure functions. Whose directory it
is, and that its node is stopped, is for the callers to show.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from brownout.cluster.commands import Answer, Runner, answer, script
from brownout.cluster.moments import bracket
from brownout.cluster.wipe import emptied_evidence
from brownout.errors import HostError, Refused

__all__ = ["Emptied", "Facts", "Mount", "check", "empty", "parse", "refusals"]

_SYSTEM = frozenset(
    PurePosixPath("/", name)
    for name in (
        *("", "bin", "boot", "data", "dev", "etc", "home", "lib", "lib32", "lib64", "media", "mnt"),
        *("opt", "proc", "root", "run", "sbin", "srv", "sys", "tmp", "usr", "var"),
        *("boot/efi", "usr/bin", "usr/lib", "usr/local", "usr/sbin", "usr/share", "var/cache"),
        *("var/lib", "var/log", "var/spool", "var/tmp"),
    )
)
#: Another machine may be at work on the same files.
_SHARED = frozenset(
    (
        *("9p", "afs", "beegfs", "ceph", "cifs", "gfs2", "glusterfs", "lustre", "nfs", "nfs4"),
        *("ocfs2", "smb2", "smb3", "virtiofs"),
    )
)

#: `$1` directory, `$2` the same as a glob pattern, further: files that must survive.
_FACTS = r"""
echo "kind $(stat -c %F -- "$1" 2>/dev/null)"
[ -L "$1" ] && echo "link $(readlink -- "$1")"
real=$(cd -P -- "$1" 2>/dev/null && pwd -P) || return 0
echo "real $real"
echo "identity $(stat -c %d:%i -- "$real")"
echo "owner $(stat -c %u -- "$real")"
echo "we $(id -u)"
getent passwd | awk -F: '$3 == 0 || ($3 >= 1000 && $3 < 65000) { print "home " $6 }'
sed 's/^/mount /' /proc/self/mountinfo
find "$real" -xdev -type l 2>/dev/null | head -n 1 | sed 's/^/inner_link /'
find /proc/[0-9]*/cwd /proc/[0-9]*/root /proc/[0-9]*/fd -maxdepth 1 \
  \( -lname "$2" -o -lname "$2/*" \) 2>/dev/null | cut -d/ -f3 | sort -un | sed 's/^/user /'
shift 2
for keep; do echo "keep $(readlink -m -- "$keep")"; done
"""

#: `$1` directory, `$2` its identity. What is deep goes first: the top level is gone at one stroke.
_EMPTY = r"""
stamp began
cd -P -- "$1" || return 1
[ "$(stat -c %d:%i .)" = "$2" ] || { echo "it was exchanged for another one" >&2; return 1; }
find . -xdev -mindepth 1 ! -type d -printf '%s\n' |
  awk '{ n++; b += $1 } END { printf "files %d\nbytes %.0f\n", n, b }'
find . -xdev -mindepth 2 -delete || return 1
[ -n "$(find . -mindepth 1 -print -quit)" ] && stamp last_no
find . -xdev -mindepth 1 -delete || return 1
sync -f . 2>/dev/null || sync
find . -mindepth 1 -print | head -n 3 | sed 's/^/left /'
stamp first_yes
stamp ended
"""


@dataclass(frozen=True, slots=True)
class Mount:
    """One line of mountinfo: what of file system `device` (from `root` on) is seen at `point`."""

    device: str
    root: PurePosixPath
    point: PurePosixPath
    kind: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a directory on its machine; paths are as the machine resolves them."""

    path: PurePosixPath
    kind: str = ""
    link: str = ""
    real: PurePosixPath | None = None
    identity: str = ""
    owner: int = -1
    we: int = -1
    homes: tuple[PurePosixPath, ...] = ()
    mounts: tuple[Mount, ...] = ()
    inner_link: str = ""
    users: tuple[int, ...] = ()
    keep: tuple[PurePosixPath, ...] = ()


@dataclass(frozen=True, slots=True)
class Emptied:
    """One directory that was emptied; it was so by `effective`, on `time.monotonic()`."""

    directory: PurePosixPath
    files: int
    size_bytes: int
    effective: float
    uncertainty_s: float
    attempts: int

    def evidence(self) -> dict[str, Any]:
        """Return it for JSON."""
        return emptied_evidence(self.directory, self.files, self.size_bytes)


def check(
    runner: Runner,
    directory: PurePosixPath,
    keep: Sequence[PurePosixPath],
    mount_point: bool = False,
) -> Facts:
    """Return the facts of a directory that may be emptied; `keep` are files not to lose.

    `mount_point` says that it may be one itself, as a container's volume is. Raises `Refused` with
    every reason otherwise; nothing is touched.
    """
    problem = _path_problem(directory)
    if problem:
        raise _refused(runner, directory, [problem])
    text = script(_FACTS, directory, _literal(directory), *keep)
    done = runner.run(text, timeout_s=120.0)
    facts = parse(directory, answer(done, f"looking at `{directory}`", runner.where))
    found = list(refusals(facts, mount_point))
    if found:
        raise _refused(runner, directory, found)
    return facts


def empty(runner: Runner, facts: Facts, timeout_s: float) -> Emptied:
    """Remove everything in a checked directory, keep it, and prove that nothing is left."""
    done = runner.run(script(_EMPTY, facts.real, facts.identity), timeout_s)
    said = answer(done, f"emptying `{facts.real}`", runner.where)
    left = said.all("left")
    if left:
        raise HostError(
            f"`{facts.real}` on {runner.where} is not empty after its wipe: {', '.join(left)}"
        )
    effective, uncertainty_s = bracket(done, said)
    files, size_bytes = said.number("files") or 0, said.number("bytes") or 0
    directory = facts.real or facts.path
    return Emptied(directory, files, size_bytes, effective, uncertainty_s, done.attempts)


def parse(directory: PurePosixPath, said: Answer) -> Facts:
    """Return what the script on the machine found."""
    real = said.get("real")
    return Facts(
        path=directory,
        kind=said.get("kind"),
        link=said.get("link"),
        real=PurePosixPath(real) if real else None,
        identity=said.get("identity"),
        owner=int(said.get("owner", "-1")),
        we=int(said.get("we", "-1")),
        homes=tuple(PurePosixPath(home) for home in said.all("home") if home),
        mounts=tuple(mount(line) for line in said.all("mount")),
        inner_link=said.get("inner_link"),
        users=tuple(int(user) for user in said.all("user")),
        keep=tuple(PurePosixPath(path) for path in said.all("keep")),
    )


def mount(line: str) -> Mount:
    """Read one line of mountinfo; the kernel writes spaces and the like as `\\040`."""
    fields = line.split(" ")
    root, point = (PurePosixPath(_unescape(field)) for field in fields[3:5])
    return Mount(fields[2], root, point, fields[fields.index("-") + 1])


def refusals(facts: Facts, mount_point: bool = False) -> Iterator[str]:
    """Yield every reason why the directory must not be emptied."""
    if facts.link:
        yield f"it is a symbolic link to `{facts.link}`"
    elif not facts.kind:
        yield "it does not exist"
    elif facts.kind != "directory":
        yield f"it is not a directory but a {facts.kind}"
    if facts.real is None or facts.link:
        return
    yield from _place(facts, facts.real)
    yield from _mounting(facts.mounts, facts.real, mount_point)
    for path in facts.keep:
        if path.is_relative_to(facts.real):
            yield f"`{path}`, which must survive, lies in it"
    if facts.inner_link:
        yield f"it holds the link `{facts.inner_link}`, whose target would keep its data"
    if facts.users:
        yield f"it is in use by process {', '.join(map(str, facts.users))}"


def _place(facts: Facts, real: PurePosixPath) -> Iterator[str]:
    if real in _SYSTEM or real in facts.homes or any(h.is_relative_to(real) for h in facts.homes):
        yield "it belongs to the system, or is or holds a home directory"
    if facts.we not in (0, facts.owner):
        yield f"it belongs to user id {facts.owner}, not to ours ({facts.we})"


def _mounting(mounts: Sequence[Mount], real: PurePosixPath, mount_point: bool) -> Iterator[str]:
    """Yield what mounts have against it: one there, one in it, another view of it, a shared one."""
    for one in mounts:
        if one.point == real:
            if mount_point:
                continue
            yield "it is a mount point; wipe a directory on that file system"
        elif one.point.is_relative_to(real):
            yield f"another file system is mounted in it at `{one.point}`"
    own = _mount_of(mounts, real)
    if own is None:
        yield "its file system is not known"
        return
    if own.kind in _SHARED or own.kind.startswith("fuse."):
        yield f"its file system ({own.kind}) may be in use by another machine"
    inner = own.root / real.relative_to(own.point)
    for one in mounts:
        if one is not own and one.device == own.device and one.root.is_relative_to(inner):
            yield f"it can be seen at `{one.point}` too"


def _mount_of(mounts: Sequence[Mount], real: PurePosixPath) -> Mount | None:
    """Return the mount that `real` is on; of two at one place the later one covers the other."""
    over = [one for one in mounts if real.is_relative_to(one.point)]
    return max(reversed(over), key=lambda one: len(one.point.parts), default=None)


def _path_problem(directory: PurePosixPath) -> str:
    text = str(directory)
    if not directory.is_absolute() or ".." in directory.parts:
        return "wanted an absolute path without `..`"
    if re.search(r"[\x00-\x1f\x7f]", text):
        return "its name holds control characters"
    return ""


def _literal(directory: PurePosixPath) -> str:
    """Return a glob pattern that matches the directory's own name only."""
    return re.sub(r"([\[\]*?\\])", r"\\\1", str(directory))


def _unescape(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def _refused(runner: Runner, directory: PurePosixPath, reasons: list[str]) -> Refused:
    return Refused(f"`{directory}` on {runner.where} is not wiped: {'; '.join(reasons)}")
