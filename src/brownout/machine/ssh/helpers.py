"""Scripts as programs of their own, which a sudoers file can allow one by one.

    /usr/local/lib/brownout/n1/kill          the text that `sh -s` gets, behind a check
    /usr/local/lib/brownout/n1/node.conf     what the inventory says of the node
    /usr/local/lib/brownout/n1/directories   what a wipe may empty, one a line
    /usr/local/lib/brownout/n1/peers         from whom a partition may cut it off, one a line

All are root's. The right to call `kill` is not the right to kill any process: each program first
compares its arguments with these files, and ends with 77 where they are about anything else.
"""

import hashlib
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from brownout.base.errors import Denied, Unsupported
from brownout.machine import (
    address_proof,
    directories,
    files,
    footprint,
    leftovers,
    server_directory,
    signals,
    storage,
    supervision,
    supervisor,
)
from brownout.machine.commands import Completed, Program, Script, answer, program, script
from brownout.machine.devices import facts, wipe
from brownout.machine.ssh import launch, process, reboot
from brownout.machine.ssh.connection import Connection, SshRunner
from brownout.machine.ssh.failures import sudo_problem
from brownout.machine.ssh.spec import SshSpec
from brownout.machine.ssh.trust import user_of

__all__ = ["ACTS", "DIRECTORIES", "LOOK", "NODE", "PEERS", "UNDONE_BY", "HelperRunner"]
__all__ += ["helpers_of", "names_for", "programs", "settings"]

#: The files beside the programs of a node.
NODE, DIRECTORIES, PEERS = "node.conf", "directories", "peers"
LOOK = "look"
#: Where the helpers of all nodes lie where the inventory does not say it.
_ROOT = PurePosixPath("/usr/local/lib/brownout")
#: What a helper ends with whose arguments are not allowed.
_NOT_ALLOWED = 77
_END = signals.SCRIPTS["end"]
#: The scripts that say themselves what they are for and which arguments they may have.
_PROGRAMS: Mapping[str, Program] = {
    name: each for module in leftovers.modules() for name, each in module.SCRIPTS.items()
}
#: Every script of a host that is reached by ssh, by the name of its program. One script ends a
#: process in two ways, and each has its program.
_BODIES: Mapping[str, str] = {
    **{"stop": _END, "kill": _END},
    **{name: body for name, body in signals.SCRIPTS.items() if name != "end"},
    **server_directory.SCRIPTS,
    **directories.SCRIPTS,
    **facts.SCRIPTS,
    **wipe.SCRIPTS,
    **storage.SCRIPTS,
    **{name: each.body for name, each in _PROGRAMS.items()},
    **address_proof.SCRIPTS,
    **footprint.SCRIPTS,
    **files.SCRIPTS,
    **supervision.SCRIPTS,
    **supervisor.SCRIPTS,
    **process.SCRIPTS,
    **launch.SCRIPTS,
    **reboot.SCRIPTS,
}
_HOLDS = ("hold-runsv", "hold-s6-supervise", "hold-supervise")
#: Which programs change something, for which act; all others only look.
ACTS: Mapping[str, tuple[str, ...]] = {
    "stop": ("stop",),
    "kill": ("kill", "others-kill", *_HOLDS),
    "supervisor": ("kill",),
    "pause": ("pause", "others-pause"),
    "resume": ("resume", "others-resume"),
    "start": ("start",),
    "wipe": ("empty", "empty-device"),
    "reboot": ("reboot",),
    **{each.act: (name,) for name, each in _PROGRAMS.items() if each.act},
}
#: What undoes the acts that say it themselves.
UNDONE_BY = {each.act: each.undone_by for each in _PROGRAMS.values() if each.undone_by}
#: What holds the files of many programs: of the configuration of a node that lies there, only that
#: is its own, and what it has beside it for more (`/etc/stone.d` of `/etc/stone.conf`).
_CONFIGURATIONS = ("/etc/default", "/etc/sysconfig", "/usr/local/etc")
_SHARED = (*sorted(map(str, directories.SYSTEM)), *_CONFIGURATIONS)
_CHANGING = frozenset(name for names in ACTS.values() for name in names)

#: Functions of every check; their names begin with `may`, which no name in a script does, except
#: for one that scripts have as well.
_LIBRARY = (
    process.PIDS_OF_UNIT
    + r"""
may_deny() { echo "brownout: not allowed: $may_name $*" >&2; exit 77; }
may_in() {
  while IFS= read -r may_line; do
    [ -n "$may_line" ] && [ "$may_line" = "$1" ] && return 0
  done <<MAY
$2
MAY
  return 1
}
may_lead_to() {
  while IFS= read -r may_line; do
    [ -n "$may_line" ] && [ "$(readlink -m -- "$may_line")" = "$1" ] && return 0
  done <<MAY
$2
MAY
  return 1
}
may_below() {
  may_path=$(readlink -m -- "$1")
  while IFS= read -r may_line; do
    [ -n "$may_line" ] || continue
    may_line=$(readlink -m -- "$may_line")
    [ "$may_line" != / ] || continue
    case $may_path/ in "$may_line"/*) return 0;; esac
  done <<MAY
$2
MAY
  return 1
}
may_read() {
  may_directory=${may_config%/*} may_word=${may_config##*/}
  may_beside=${may_config:+$may_directory/${may_word%.*}.d}
  case $(readlink -m -- "${may_directory:-/}") in
  /home/*/*) ;;
  /home/*|MAY_SHARED) may_directory=;;
  esac
  may_below "$1" "$may_directory
$may_config
${may_config:+$may_config.d}
$may_beside
$may_directories
$may_server_directory
/etc/machine-id"
}
may_numbers() {
  for may_word; do case $may_word in ''|*[!0-9.]*|*.*.*) return 1;; esac; done
}
may_pids() {
  case $may_how in
  service) pids_of_unit "$may_value";;
  pid_file) cat -- "$may_value" 2>/dev/null;;
  pid_command) /bin/sh -c "$may_value" 2>/dev/null;;
  esac
}
may_runs() {
  [ -n "$may_program" ] || return 0
  read -r may_word 2>/dev/null < "/proc/$1/comm" || return 1
  [ "$may_word" = "$(printf %.15s "$may_program")" ] && return 0
  may_word=$(readlink "/proc/$1/exe"); may_word=${may_word% (deleted)}
  [ "${may_word##*/}" = "$may_program" ] && return 0
  may_word=$(tr '\0' '\n' < "/proc/$1/cmdline" | head -n 1)
  [ "${may_word##*/}" = "$may_program" ]
}
may_own() {
  case $1 in ''|0*|1|*[!0-9]*) return 1;; esac
  [ -d "/proc/$1" ] || return 0
  for may_pid in $(may_pids); do [ "$may_pid" = "$1" ] && may_runs "$1" && return 0; done
  return 1
}
may_ours() {
  may_own "$1" && return 0
  case $1 in ''|*[!0-9]*) return 1;; esac
  [ -n "$may_server_directory" ] && [ "/proc/$1/cwd" -ef "$may_server_directory" ]
}
may_lives() {
  for may_task in "/proc/$1/task"/*/stat; do
    { IFS= read -r may_line < "$may_task"; } 2>/dev/null || continue
    case ${may_line##*) } in [ZX]*) ;; *) return 0;; esac
  done
  return 1
}
may_stopped() {
  for may_pid in $(may_pids); do
    may_lives "$may_pid" && may_runs "$may_pid" && return 1
  done
  return 0
}
may_supervised_in() {
  for may_pid in $(may_pids); do
    while [ "${may_pid:-0}" -gt 1 ]; do
      [ "/proc/$may_pid/cwd" -ef "$1" ] && return 0
      { IFS= read -r may_line < "/proc/$may_pid/stat"; } 2>/dev/null || break
      may_line=${may_line##*) }; may_line=${may_line#* }; may_pid=${may_line%% *}
    done
  done
  return 1
}
"""
).replace("MAY_SHARED", "|".join(_SHARED))
_OTHERS = '[ -n "$1" ] && [ "$1" = "$may_server_directory" ] && shift && may_numbers "$@"'
_NOTHING = "[ $# = 0 ]"
#: What the arguments of each program have to be, as the shell says it.
_CHECKS: Mapping[str, str] = {
    "stop": 'may_own "$1" && may_numbers "$2" "$3" && [ -z "$4$6" ] && [ "$5" = "$may_stop" ]',
    "kill": (
        'may_own "$1" && may_numbers "$2" "$3" && [ "$4$5" = KILL ] && '
        '{ [ -z "$6" ] || [ "$6" = "$may_unit" ]; }'
    ),
    "pause": '[ $# = 4 ] && may_own "$1" && may_numbers "$2" "$3" "$4"',
    "resume": '[ $# = 3 ] && may_own "$1" && may_numbers "$2" "$3"',
    **dict.fromkeys(server_directory.SCRIPTS, _OTHERS),
    "facts": (
        'may_in "$1" "$may_directories" || return 1; shift; '
        'for each; do may_in "$each" "$may_keep" || return 1; done'
    ),
    "empty": (
        'may_lead_to "$1" "$may_directories" && may_stopped || return 1; '
        "case $2 in *[!0-9:]*) return 1;; esac; shift 2; "
        "for each; do case /$each/ in *//*|*/../*) return 1;; esac; done"
    ),
    "is-device": 'may_in "$1" "$may_directories" || may_in "$1" "$may_devices"',
    "device-facts": (
        'may_in "$1" "$may_directories" || may_in "$1" "$may_devices" || return 1; shift; '
        'for each; do may_in "$each" "$may_devices" || return 1; done'
    ),
    "empty-device": (
        'may_lead_to "$1" "$may_devices" && may_stopped || return 1; '
        'case $2 in *[!0-9:]*) return 1;; esac; case $4 in blkdiscard|"blkdiscard -z"|dd) ;; '
        '*) return 1;; esac; may_numbers "$3" || return 1; shift 4; may_numbers "$@"'
    ),
    **{name: each.check for name, each in _PROGRAMS.items()},
    "serves": 'may_ours "$1" || return 1; case $2$3 in *[!0-9A-F:]*) return 1;; esac',
    "footprint": (
        "case $1 in *[!A-Z_\\|]*|*PASS*|*SECRET*|*TOKEN*|*KEY*) return 1;; esac; shift; "
        'for each; do may_ours "$each" || return 1; done'
    ),
    "read": '[ $# = 1 ] && may_read "$1"',
    "entries": '[ $# = 1 ] && may_read "$1"',
    "resolve": 'for each; do may_read "$each" || return 1; done',
    **dict.fromkeys(("supervisors", "number-inside"), 'may_ours "$1"'),
    **dict.fromkeys(_HOLDS, '[ $# = 1 ] && may_supervised_in "$1"'),
    "locate": '[ "$1" = "$may_how" ] && [ "$2" = "$may_value" ] && [ "$3" = "$may_status" ]',
    "machine": _NOTHING,
    "kill-mode": '[ "$1" = "$may_unit" ]',
    "start": (
        '[ "$1" = "$may_unit" ] && [ "$2" = "$may_start" ] && [ "$3" = "$may_log" ] && '
        'may_numbers "$4" && [ "$5" = "$may_port" ]'
    ),
    "last-words": '[ "$1" = "$may_unit" ] && [ "$2" = "$may_log" ]',
    "boot": '[ "$1" = "$may_boot_id" ]',
    "reboot": (
        '[ "$1" = "$may_boot_id" ] && [ "$3" = "$may_reboot" ] || return 1; '
        "case $2 in *[!0-9A-Za-z-]*) return 1;; esac"
    ),
}
#: Further: paths. Prints what each is, and whether our login may run it by sudo.
_ASK = """
for path; do
  [ -r "$path" ] && echo "digest $(sha256sum < "$path" | cut -d' ' -f1) $path"
  sudo -n -l -- "$path" >/dev/null 2>&1 && echo "allowed $path"
done
return 0
"""


def helpers_of(node: str, spec: SshSpec) -> PurePosixPath:
    """Return the directory on its machine in which the helpers of a node lie."""
    return PurePosixPath(spec.helpers) if spec.helpers else _ROOT / node


def names_for(acts: Iterable[str], spec: SshSpec) -> dict[str, tuple[str, ...]]:
    """Return the programs for each of these acts, and for looking, that a node has use of.

    {"look": ("boot", "locate", …), "kill": ("kill",), "start": ("start",)}
    """
    given = set(acts)
    wanted = {LOOK: tuple(sorted(_BODIES.keys() - _CHANGING))}
    wanted |= {act: names for act, names in ACTS.items() if act in given}
    of_use = {act: tuple(n for n in names if _is_of_use(n, spec)) for act, names in wanted.items()}
    return {act: names for act, names in of_use.items() if names}


def programs(names: Iterable[str], place: PurePosixPath) -> dict[str, str]:
    """Return the text of each of these programs, which lie at `place`."""
    return {name: program(_BODIES[name], _check(name, place)) for name in names}


def settings(node: str, spec: SshSpec, address: str) -> str:
    """Return `node.conf`: what the inventory says of `node` at `address`, for the checks."""
    how, value, status = process.question(spec)
    commands = spec.commands
    host, _, port = address.rpartition(":")
    log = str((commands.log_file if commands else None) or "")
    config = str(spec.config_file or "")
    values = {
        "node": f"{node}-{port}",
        "how": how,
        "value": value,
        "status": status,
        "program": commands.program if commands else "",
        "unit": spec.service,
        "start": commands.start if commands else "",
        "stop": commands.stop if commands else f"systemctl stop -- '{spec.service}'",
        "log": log,
        "port": f"{int(port):04X}",
        "address": host.strip("[]"),
        "devices": "\n".join(map(str, spec.devices)),
        "server_directory": str(spec.server_directory or ""),
        "keep": "\n".join(filter(None, (config, log))),
        "config": config,
        "boot_id": str(reboot.BOOT_ID),
        "reboot": spec.reboot_command,
    }
    return "".join(f"may_{name}={shlex.quote(text)}\n" for name, text in values.items())


class HelperRunner:
    """Runs scripts as the helpers of a node, each by `sudo -n` as what it is."""

    def __init__(self, connection: Connection, place: PurePosixPath, conf: str) -> None:
        self._connection, self._place, self._conf = connection, place, conf
        self.where = connection.where
        self._names = {body: name for name, body in _BODIES.items()}

    def run(self, text: str, timeout_s: float = 30.0) -> Completed:
        """Run the helper of a script; raises `Denied` where it or sudo does not allow that."""
        name, arguments = self._called(text)
        path = str(self._place / name)
        command = shlex.join(["sudo", "-n", "--", path, *arguments])
        done = self._connection.run(command, "", timeout_s)
        login = self._connection.login
        problem = sudo_problem(done.status, done.errors, login, user_of(login), path)
        if problem is not None:
            raise problem
        if done.status == _NOT_ALLOWED:
            raise Denied(
                f"{self.where}: {done.errors.strip()}: the helpers do not allow this",
                "install what `brownout sudoers` writes for this inventory, if it has changed",
            )
        return done

    def missing(self, names: Sequence[str]) -> Iterator[str]:
        """Yield what is against each of these helpers: not there, another one, not allowed."""
        wanted = {name: _digest(text) for name, text in programs(names, self._place).items()}
        wanted[NODE] = _digest(self._conf)
        paths = {str(self._place / name): name for name in wanted}
        done = SshRunner(self._connection).run(script(_ASK, *paths))
        seen = answer(done, "looking at the helpers", self.where)
        digests = {path: digest for digest, path in map(str.split, seen.all("digest"))}
        allowed = set(seen.all("allowed"))
        for path, name in paths.items():
            if path not in digests:
                yield f"{path} is not there, or cannot be read"
            elif digests[path] != wanted[name]:
                yield f"{path} is of another version or another inventory"
            elif name != NODE and path not in allowed:
                yield f"sudo does not allow {path}"

    def _called(self, text: str) -> tuple[str, Sequence[str]]:
        """Return the helper that does what a script does, and its arguments."""
        body, arguments = (text.body, text.arguments) if isinstance(text, Script) else ("", ())
        if body == _END:
            return ("kill" if arguments[3] else "stop"), arguments
        if body not in self._names:
            raise Unsupported(f"{self.where}: no helper does this", "set `sudo: true`")
        return self._names[body], arguments


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _is_of_use(name: str, spec: SshSpec) -> bool:
    if name.startswith("others-"):
        return spec.server_directory is not None
    if name in ("device-facts", "empty-device"):
        return bool(spec.devices)
    return name != "kill-mode" or bool(spec.service)


def _check(name: str, place: PurePosixPath) -> str:
    """Return what goes before a script: it ends where its arguments are not those of the node."""
    beside = shlex.quote(str(place))
    return f"""\
may_name={name}
. {beside}/{NODE} || exit {_NOT_ALLOWED}
may_directories=$(cat -- {beside}/{DIRECTORIES} 2>/dev/null)
may_peers=$(cat -- {beside}/{PEERS} 2>/dev/null)
{_LIBRARY.strip()}
may() {{
{_CHECKS[name]}
}}
may "$@" || may_deny "$@"
"""
