"""What is done on a load host beside copying: preparing it, asking it, ending a process, removing.

    loadgen-<hash>        the binary; stays for the next run
    run-XXXXXXXX/run/     the generator's files, until they are here
    run-XXXXXXXX/tls/     certificates that it connects with
    run-XXXXXXXX/.brownout-run   our mark: a directory without it is never removed

All of it lies below `~/.cache/brownout` there, or in the inventory's directory.
"""

import re
import time
from dataclasses import dataclass
from pathlib import PurePath, PurePosixPath

from brownout.base.errors import GeneratorError
from brownout.machine.commands import Answer, answer, last_words, script
from brownout.machine.ssh.connection import Connection, SshRunner

__all__ = ["LoadMachine", "Prepared"]

_CLOCK_SAMPLES = 5
#: For a generator to end by itself after SIGTERM: it drains what is in flight and flushes.
_END_S = 20

#: `$1` directory or empty, `$2` hash of the binary. What was unused for a month is removed, if it
#: is ours for certain: a directory with our mark, a binary whose hash is its name.
_PREPARE = """
umask 077
base=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/brownout}
mkdir -p -- "$base" && base=$(cd -P -- "$base" && pwd -P) || return 1
echo "base $base"
echo "system $(uname -s)"
echo "machine $(uname -m)"
echo "free $(($(df -Pk "$base" | awk 'END { print $4 }') * 1024))"
[ -e "$base/loadgen-$2" ] && touch "$base/loadgen-$2"
find "$base" -maxdepth 1 -type f -name 'loadgen-*' -mtime +30 | while IFS= read -r old; do
  [ "$(sha256sum 2>/dev/null < "$old" | cut -d' ' -f1)" = "${old##*/loadgen-}" ] && rm -f -- "$old"
done
for old in "$base"/run-????????; do
  [ -f "$old/.brownout-run" ] && [ ! -L "$old" ] || continue
  [ -z "$(find "$old" -mtime -30 -print -quit)" ] && rm -rf -- "$old"
done
[ "$(sha256sum 2>/dev/null < "$base/loadgen-$2" | cut -d' ' -f1)" = "$2" ] && echo "cached yes"
run=$(mktemp -d "$base/run-XXXXXXXX") && : > "$run/.brownout-run" || return 1
mkdir "$run/run" "$run/tls" || return 1
echo "run $run"
"""
_VERSION = '"$1" --version'
_CLOCK = 'echo "clock $(date +%s%N)"'
_REMOVE = """
if [ -e "$1/.brownout-run" ]; then rm -rf -- "$1"; elif [ -e "$1" ]; then echo "mark no"; fi
"""
#: `$1` process, `$2` its start, `$3` seconds to give it: ended gently, then not.
_END = """
same() {
  { read -r stat < "/proc/$1/stat"; } 2>/dev/null || return 1
  set -- "$2" ${stat##*) }
  [ "${21}" = "$1" ] && [ "$2" != Z ]
}
for signal in TERM KILL; do
  same "$1" "$2" || break
  kill -s "$signal" "$1" || return 1
  deadline=$(($(date +%s) + $3))
  while same "$1" "$2" && [ "$(date +%s)" -lt "$deadline" ]; do sleep 0.05; done
done
same "$1" "$2" && echo "state alive" || echo "state gone"
"""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A load host that is ready: its directories, `uname`, and whether the binary is there."""

    base: PurePosixPath
    run: PurePosixPath
    system: str
    machine: str
    free_bytes: int
    cached: bool


class LoadMachine:
    """One load host. Methods raise `GeneratorError` or `HostError`."""

    def __init__(self, connection: Connection) -> None:
        self.where = connection.where
        self._runner = SshRunner(connection)

    def prepare(self, directory: PurePath | None, checksum: str) -> Prepared:
        """Make a directory for one run there, and look for the binary with `checksum`."""
        reply = self._ask(_PREPARE, directory or "", checksum)
        return Prepared(
            base=PurePosixPath(reply.get("base")),
            run=PurePosixPath(reply.get("run")),
            system=reply.get("system"),
            machine=reply.get("machine"),
            free_bytes=reply.number("free") or 0,
            cached=reply.get("cached") == "yes",
        )

    def version(self, binary: PurePosixPath) -> str:
        """Run the binary there for its version, which shows that it runs at all."""
        done = self._runner.run(script(_VERSION, binary))
        if done.status:
            raise GeneratorError(
                f"the load generator does not run on {self.where}: {last_words(done.errors)}",
                "if the file system there forbids programs, set load.host.directory",
            )
        return done.output.strip()

    def wall_clock(self) -> dict[str, float]:
        """Return by how much its wall clock is ahead of ours, and how sure that is, in seconds.

        The quickest of several round trips bounds it best.
        """
        samples = []
        for _ in range(_CLOCK_SAMPLES):
            before = time.time()
            theirs = int(self._ask(_CLOCK).get("clock")) / 1e9
            after = time.time()
            samples.append((after - before, theirs - (before + after) / 2))
        trip, offset = min(samples)
        return {"wall_offset_s": round(offset, 6), "wall_uncertainty_s": round(trip / 2, 6)}

    def end(self, pid: int, started: int) -> None:
        """End the process that has this id and this start, if it still exists."""
        reply = self._ask(_END, pid, started, _END_S)
        if reply.get("state") != "gone":
            raise GeneratorError(f"the load generator (process {pid}) on {self.where} does not end")

    def exists(self, run: PurePosixPath) -> bool:
        """Whether the directory of a run is there."""
        return self._runner.run(script('[ -d "$1" ]', run)).status == 0

    def remove(self, run: PurePosixPath) -> None:
        """Remove the directory of a run, and nothing that `prepare` did not make."""
        if not run.is_absolute() or not re.fullmatch(r"run-[A-Za-z0-9]{8}", run.name):
            raise GeneratorError(f"`{run}` is not a run of ours on a load host; it is left alone")
        if self._ask(_REMOVE, run).get("mark") == "no":
            raise GeneratorError(
                f"`{run}` on {self.where} does not carry our mark; it is left alone",
                "if an earlier brownout made it, without a mark, remove it by hand",
            )

    def _ask(self, body: str, *arguments: object) -> Answer:
        done = self._runner.run(script(body, *arguments), timeout_s=120.0)
        return answer(done, "what the load generator needs", self.where)
