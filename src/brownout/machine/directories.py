"""Emptying a data directory where a `Runner` sees it: first the guard, then the removal.

A script gathers the facts where the directory is; what they mean is decided here by pure
functions, the same for every kind of host. Whose directory it is, and that its node is stopped, is
for the callers to show.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from brownout.base.errors import HostError, Refused
from brownout.machine.commands import Answer, Runner, answer, script
from brownout.machine.moments import bracket

__all__ = [
    "SCRIPTS",
    "SYSTEM",
    "Emptied",
    "Facts",
    "Mount",
    "check",
    "empty",
    "in_words",
    "parse",
    "refusals",
]
__all__ += ["same_or_nested"]

#: What belongs to the system as a whole, never to one program.
SYSTEM = frozenset(
    PurePosixPath("/", name)
    for name in (
        *("", "bin", "boot", "data", "dev", "etc", "home", "lib", "lib32", "lib64", "media", "mnt"),
        *("opt", "proc", "root", "run", "sbin", "srv", "sys", "tmp", "usr", "var"),
        *("boot/efi", "usr/bin", "usr/lib", "usr/local", "usr/sbin", "usr/share", "var/cache"),
        *("var/lib", "var/log", "var/spool", "var/tmp"),
    )
)
_OF_THE_SYSTEM = "it belongs to the system, or is or holds a home directory"
#: Another machine may be at work on the same files.
_SHARED = frozenset(
    (
        *("9p", "afs", "beegfs", "ceph", "cifs", "gfs2", "glusterfs", "lustre", "nfs", "nfs4"),
        *("ocfs2", "smb2", "smb3", "virtiofs"),
    )
)

#: `$1` directory, further: files that must survive. Who uses it is told by device and inode: a path
#: is another one in each mount namespace. Each link in it stands beside what it leads to.
_FACTS = r"""
echo "kind $(stat -c %F -- "$1" 2>/dev/null)"
echo "place $(readlink -m -- "$1")"
[ -L "$1" ] && echo "link $(readlink -- "$1")"
real=$(cd -P -- "$1" 2>/dev/null && pwd -P) || return 0
echo "real $real"
echo "identity $(stat -c %d:%i -- "$real")"
echo "owner $(stat -c %u -- "$real")"
we=$(id -u)
echo "we $we"
{ getent passwd || cat /etc/passwd; } 2>/dev/null |
  awk -F: '$3 == 0 || ($3 >= 1000 && $3 < 65000) { print "home " $6 }'
[ "$we" -eq 0 ] || [ "$we" -ge 1000 ] && echo "home $HOME"
sed 's/^/mount /' /proc/self/mountinfo
here=$(readlink /proc/self/ns/mnt)
find /proc/[0-9]*/ns/mnt -maxdepth 0 -printf '%l %p\n' 2>/dev/null | sort -u -k1,1 |
  while read -r namespace link; do
    pid=${link#/proc/}; pid=${pid%%/*}
    [ "$namespace" = "$here" ] || sed "s/^/mount_of $pid /" "/proc/$pid/mountinfo" 2>/dev/null
  done
find "$real" -xdev -type l -exec sh -c '
  for link; do
    printf "inner_link %s\ninner_target %s\n" \
      "$(printf %s "$link" | tr "\n" "?")" "$(readlink -mz -- "$link" | tr "\n\0" "?\n")"
  done' sh {} + 2>/dev/null
find "$real" -xdev -type d ! \( -readable -writable -executable \) -printf 'closed %p\n' -quit \
  2>/dev/null
{ find "$real" -xdev -printf 'in %D:%i\n'
  find -L /proc/[0-9]*/cwd /proc/[0-9]*/root /proc/[0-9]*/exe -maxdepth 0 -printf 'by %D:%i %p\n'
  find -L /proc/[0-9]*/fd /proc/[0-9]*/map_files -mindepth 1 -maxdepth 1 -printf 'by %D:%i %p\n'
} 2>/dev/null | awk '
  $1 == "in" { own[$2]; inside++; next }
  { asked++ }
  $2 in own { split($3, path, "/"); if (!seen[path[3]]++) print "user " path[3] }
  END { print "looked " (inside && asked ? "yes" : "no") }'
shift
for keep; do echo "keep $(readlink -m -- "$keep")"; done
"""

#: `$1` directory, `$2` its identity, further: directories in it that stay, with owner and mode, and
#: are emptied as well. What is deep goes first: the top level is gone at one stroke.
_EMPTY = r"""
stamp began
cd -P -- "$1" || return 1
[ "$(stat -c %d:%i .)" = "$2" ] || { echo "it was exchanged for another one" >&2; return 1; }
shift 2
kept=$#
for inner; do
  while [ "$inner" != . ]; do
    number=$(stat -c %i -- "./$inner") || return 1
    set -- "$@" ! -inum "$number"
    inner=$(dirname -- "$inner")
  done
done
shift "$kept"
find . -xdev -mindepth 1 ! -type d -printf '%s\n' |
  awk '{ n++; b += $1 } END { printf "files %d\nbytes %.0f\n", n, b }'
find . -xdev -mindepth 2 "$@" -delete || return 1
[ -n "$(find . -mindepth 1 "$@" -print -quit)" ] && stamp last_no
find . -xdev -mindepth 1 "$@" -delete || return 1
sync -f . 2>/dev/null || sync
find . -mindepth 1 "$@" -print | head -n 3 | sed 's/^/left /'
stamp first_yes
stamp ended
"""
#: What may run as a program of its own, by name (`ssh.helpers`).
SCRIPTS = {"facts": _FACTS, "empty": _EMPTY}


@dataclass(frozen=True, slots=True)
class Mount:
    """One line of mountinfo: what of file system `device` (from `root` on) is seen at `point`."""

    device: str
    root: PurePosixPath
    point: PurePosixPath
    kind: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a directory on its machine; paths are as the machine resolves them.

    `place` is where it would be if it does not exist. `mounts_of` are those of other mount
    namespaces, each with a process that is in it; `inner_links` are links in it, each with what it
    leads to; `closed` is a directory in it that we may not empty; `looked` says that `users` could
    be looked for. `kept` are directories in it that stay when it is emptied, relative to it.
    """

    path: PurePosixPath
    kind: str = ""
    link: str = ""
    place: PurePosixPath | None = None
    real: PurePosixPath | None = None
    identity: str = ""
    owner: int = -1
    we: int = -1
    homes: tuple[PurePosixPath, ...] = ()
    mounts: tuple[Mount, ...] = ()
    mounts_of: tuple[tuple[int, Mount], ...] = ()
    inner_links: tuple[tuple[str, PurePosixPath], ...] = ()
    closed: str = ""
    users: tuple[int, ...] = ()
    looked: bool = False
    keep: tuple[PurePosixPath, ...] = ()
    kept: tuple[PurePosixPath, ...] = ()

    @property
    def at(self) -> PurePosixPath:
        """Where it is, or would be, without links."""
        return self.real or self.place or self.path


@dataclass(frozen=True, slots=True)
class Emptied:
    """One directory that was emptied; it was so by `effective`, on `time.monotonic()`."""

    directory: PurePosixPath
    files: int
    size_bytes: int
    effective: float
    uncertainty_s: float
    attempts: int
    kept: tuple[PurePosixPath, ...] = ()

    def evidence(self) -> dict[str, Any]:
        """Return it for JSON."""
        kept = {"kept_empty": [str(path) for path in self.kept]} if self.kept else {}
        return {
            "directory": str(self.directory),
            "files_removed": self.files,
            "bytes_removed": self.size_bytes,
            "entries_left": 0,
            **kept,
        }


def check(
    runner: Runner,
    wanted: Sequence[PurePosixPath],
    keep: Sequence[PurePosixPath],
    mount_point: bool = False,
    own: Collection[int] | None = (),
    *,
    finishing: bool = False,
) -> tuple[Facts, ...]:
    """Return the facts of the directories that are to be emptied; `keep` are files not to lose.

    One that lies in another is emptied with it, and is there again afterwards: only the outermost
    are returned. `mount_point` says that one may be one itself, as a container's volume is. `own`
    are processes that may use it, since they are the node's; None: every process that is seen
    there is one. Where a wipe is `finishing` that was cut short, one that is gone holds nothing.
    Raises `Refused` with every reason against the first that must not be emptied; nothing is
    touched.
    """
    looked = [_looked(runner, directory, keep, own) for directory in wanted]
    there = [facts for facts in looked if facts.real is not None]
    emptied = [facts.at for facts in there]
    for facts in looked:
        if facts.real is None and (finishing or _holder(facts, there) is not None):
            continue
        problems = list(refusals(facts, mount_point, emptied))
        if problems:
            raise _refused(runner, facts.path, problems)
    outermost = [facts for facts in there if _holder(facts, there) is None]
    return tuple(replace(facts, kept=_kept(facts, there)) for facts in _distinct(outermost))


def _looked(
    runner: Runner,
    directory: PurePosixPath,
    keep: Sequence[PurePosixPath],
    own: Collection[int] | None,
) -> Facts:
    """Return what is known of one directory, without its own users."""
    problem = _path_problem(directory)
    if problem:
        raise _refused(runner, directory, [problem])
    done = runner.run(script(_FACTS, directory, *keep), timeout_s=120.0)
    facts = parse(directory, answer(done, f"looking at `{directory}`", runner.where))
    others = () if own is None else tuple(user for user in facts.users if user not in own)
    return replace(facts, users=others)


def _holder(facts: Facts, there: Sequence[Facts]) -> Facts | None:
    """Return a directory in which this one lies, or would lie if it existed."""
    return next((each for each in there if each.at in facts.at.parents), None)


def _kept(outer: Facts, there: Sequence[Facts]) -> tuple[PurePosixPath, ...]:
    """Return the directories in `outer` that were named themselves, relative to it."""
    inside = {facts.at for facts in there if outer.at in facts.at.parents}
    return tuple(sorted(each.relative_to(outer.at) for each in inside))


def _distinct(there: Sequence[Facts]) -> list[Facts]:
    """Return each directory once, by the first of its names."""
    return list({facts.at: facts for facts in reversed(there)}.values())[::-1]


def empty(runner: Runner, facts: Facts, timeout_s: float) -> Emptied:
    """Remove everything in a checked directory, keep it, and prove that nothing is left."""
    done = runner.run(script(_EMPTY, facts.real, facts.identity, *facts.kept), timeout_s)
    reply = answer(done, f"emptying `{facts.real}`", runner.where)
    left = reply.all("left")
    if left:
        raise HostError(
            f"`{facts.real}` on {runner.where} is not empty after its wipe: {', '.join(left)}"
        )
    effective, uncertainty_s = bracket(done, reply)
    files, size_bytes = reply.number("files") or 0, reply.number("bytes") or 0
    kept = tuple(facts.at / inner for inner in facts.kept)
    return Emptied(facts.at, files, size_bytes, effective, uncertainty_s, done.attempts, kept)


def parse(directory: PurePosixPath, reply: Answer) -> Facts:
    """Return what the script on the machine found."""
    real, place = reply.get("real"), reply.get("place")
    targets = map(PurePosixPath, reply.all("inner_target"))
    return Facts(
        path=directory,
        kind=reply.get("kind"),
        link=reply.get("link"),
        place=PurePosixPath(place) if place else None,
        real=PurePosixPath(real) if real else None,
        identity=reply.get("identity"),
        owner=int(reply.get("owner", "-1")),
        we=int(reply.get("we", "-1")),
        homes=tuple(PurePosixPath(home) for home in reply.all("home") if home),
        mounts=tuple(mount(line) for line in reply.all("mount")),
        mounts_of=tuple(_mount_of_another(line) for line in reply.all("mount_of")),
        inner_links=tuple(zip(reply.all("inner_link"), targets, strict=False)),
        closed=reply.get("closed"),
        users=tuple(sorted(int(user) for user in reply.all("user"))),
        looked=reply.get("looked") == "yes",
        keep=tuple(PurePosixPath(path) for path in reply.all("keep")),
    )


def mount(line: str) -> Mount:
    """Read one line of mountinfo; the kernel writes spaces and the like as `\\040`."""
    fields = line.split(" ")
    root, point = (PurePosixPath(_unescape(field)) for field in fields[3:5])
    return Mount(fields[2], root, point, fields[fields.index("-") + 1])


def in_words(wanted: Sequence[Path]) -> str:
    """Return what a wipe of `wanted` empties, for a plan: `/d (/d/wal in it stays, empty)`."""
    outermost = [one for one in dict.fromkeys(wanted) if not set(one.parents) & set(wanted)]
    words = []
    for outer in outermost:
        inner = ", ".join(str(one) for one in wanted if outer in one.parents)
        words.append(f"{outer} ({inner} in it stays, empty)" if inner else str(outer))
    return ", ".join(words)


def same_or_nested(directories: Sequence[Path], other: Path) -> bool:
    """Whether `other` is one of `directories`, lies in one, or holds one.

    As written, or with links resolved: the paths may be another machine's.
    """
    return any(_nested(own, other) or _nested(other, own) for own in directories)


def _nested(directory: Path, path: Path) -> bool:
    resolved = path.resolve().is_relative_to(directory.resolve())
    return path.is_relative_to(directory) or resolved


def _mount_of_another(line: str) -> tuple[int, Mount]:
    pid, _, rest = line.partition(" ")
    return int(pid), mount(rest)


def refusals(
    facts: Facts, mount_point: bool = False, emptied: Sequence[PurePosixPath] = ()
) -> Iterator[str]:
    """Yield every reason why the directory must not be emptied; all of `emptied` are with it."""
    if facts.link:
        yield f"it is a symbolic link to `{facts.link}`"
    elif not facts.kind:
        yield "it does not exist"
    elif facts.kind != "directory":
        yield f"it is not a directory but a {facts.kind}"
    if facts.real is None or facts.link:
        return
    yield from _place(facts, facts.real)
    yield from _mounting(facts, facts.real, mount_point)
    for path in facts.keep:
        if path.is_relative_to(facts.real):
            yield f"`{path}`, which must survive, lies in it"
    for link, target in facts.inner_links:
        if not any(target.is_relative_to(each) for each in (facts.real, *emptied)):
            yield (
                f"it holds the link `{link}`, whose target `{target}` is not among what is emptied "
                "and would keep its data"
            )
            break
    if facts.closed:
        yield f"`{facts.closed}` may not be emptied by us"
    if facts.users:
        yield f"it is in use by process {', '.join(map(str, facts.users))}; stop what uses it first"
    if not facts.looked:
        yield "who uses it could not be found out; wanted GNU find and awk there"


def _place(facts: Facts, real: PurePosixPath) -> Iterator[str]:
    if real in SYSTEM or real in facts.homes or any(h.is_relative_to(real) for h in facts.homes):
        yield _OF_THE_SYSTEM
    if facts.we not in (0, facts.owner):
        yield f"it belongs to user id {facts.owner}, not to ours ({facts.we})"


def _mounting(facts: Facts, real: PurePosixPath, mount_point: bool) -> Iterator[str]:
    """Yield what mounts have against it: one there, one in it, another view of it, a shared one."""
    for one in facts.mounts:
        if one.point == real:
            if mount_point:
                continue
            yield "it is a mount point; wipe a directory on that file system"
        elif one.point.is_relative_to(real):
            yield f"another file system is mounted in it at `{one.point}`"
    own = _mount_of(facts.mounts, real)
    if own is None:
        yield "its file system is not known"
        return
    if own.kind in _SHARED or own.kind.startswith("fuse."):
        yield f"its file system ({own.kind}) may be in use by another machine"
    inner = own.root / real.relative_to(own.point)
    for one in facts.mounts:
        if one is not own and _shows(one, own, inner):
            yield f"it can be seen at `{one.point}` too"
    for pid, one in facts.mounts_of:
        if _shows(one, own, inner):
            yield f"process {pid}, in a mount namespace of its own, sees it at `{one.point}`"


def _shows(mount: Mount, own: Mount, inner: PurePosixPath) -> bool:
    """Whether a mount is of directory `inner` of the file system of `own`, or of what is in it."""
    return mount.device == own.device and mount.root.is_relative_to(inner)


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
    return _OF_THE_SYSTEM if directory in SYSTEM else ""


def _unescape(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def _refused(runner: Runner, directory: PurePosixPath, reasons: list[str]) -> Refused:
    return Refused(f"`{directory}` on {runner.where} is not wiped: {'; '.join(reasons)}")
