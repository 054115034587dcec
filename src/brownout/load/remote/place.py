"""A load host as the place of a generator: prepared, settled in, collected from, left.

What is there and who runs there is written to `load-host.json` of the run directory before
anything is started, so that a run that died can be collected later:

    {"host": "load1.example.com", "system": "Linux x86_64", "version": "0.1.0", "copied": false,
     "binary_sha256": "9f2c…", "directory": "/home/ann/.cache/brownout/run-Ab3dE6gH",
     "clock": {"wall_offset_s": 0.0031, "wall_uncertainty_s": 0.0008, "t_uncertainty_s": 0.0005},
     "pid": 4711, "started": 8812345, "files": {"series.csv": "c81e…"}, "removed": true}
"""

import json
import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from brownout.base.binary import find_loadgen
from brownout.base.errors import GeneratorError
from brownout.base.files import private_directory, replace_file
from brownout.load.place import TLS_FILES, Process, as_generator_error, open_record
from brownout.load.remote import files
from brownout.load.remote.machine import LoadMachine, Prepared
from brownout.load.remote.spec import LoadHost
from brownout.machine.ssh.pool import connection_for
from brownout.machine.ssh.stream import Stream

__all__ = ["RECORD", "RemotePlace", "check_fit", "machine_of", "recover"]

RECORD = "load-host.json"
_FREE_BYTES = 256 << 20
#: `e_machine` of an ELF file, and what `uname -m` says on such a machine.
_MACHINES = {
    3: ("i386", "i486", "i586", "i686"),
    40: ("armv6l", "armv7l", "armv8l"),
    62: ("x86_64",),
    183: ("aarch64", "arm64"),
    243: ("riscv64",),
}
_RUNS_TOO = {"x86_64": 3}


class RemotePlace:
    """One load host and one run on it; `directory` is the run directory here.

    Methods raise `GeneratorError`.
    """

    def __init__(
        self, host: LoadHost, directory: Path, record: Mapping[str, Any] | None = None
    ) -> None:
        self._host, self._directory = host, directory
        self._connection = connection_for(host.login())
        self._machine = LoadMachine(self._connection)
        self._record: dict[str, Any] = dict(record or {})
        self._run = PurePosixPath(self._record["directory"]) if self._record else None
        self._process: Stream | None = None

    @property
    def where(self) -> str:
        """The load host's address."""
        return self._connection.where

    def command(self) -> list[str]:
        """Prepare the load host, with the binary on it, and return what starts it there."""
        with as_generator_error("load host"):
            local = find_loadgen()
            checksum = files.hash_of(local)
            ready = self._machine.prepare(self._host.directory, checksum)
            self._run = ready.run
            try:
                binary = self._install(local, ready, checksum)
            except BaseException:
                self.leave()
                raise
        return [str(binary), "run"]

    def start(self, command: list[str], log: Path) -> Process:
        """Start the generator there; when the connection breaks it keeps running for its linger."""
        pipe = subprocess.PIPE
        with as_generator_error("load host"):
            process = Stream(self._connection, command, stdin=pipe, stdout=pipe, stderr=str(log))
            self._process = process
            self._write(pid=process.pid, started=process.started)
        return process

    def settle(self, spec: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the specification with the directory there, its TLS files copied there."""
        connection = dict(spec["connection"])
        tls = dict(connection.get("tls") or {})
        with as_generator_error("load host"):
            for name in TLS_FILES:
                if tls.get(name):
                    there = self._there() / "tls" / name
                    files.put(self._connection, Path(tls[name]), there, "0600")
                    tls[name] = str(there)
        if tls:
            connection["tls"] = tls
        return {**spec, "dir": str(self._there() / "run"), "connection": connection}

    def collect(self, clock_uncertainty_s: float | None) -> None:
        """Fetch what the generator has written so far, checked by hash.

        Where the connection to it broke, it is ended first: it can no longer be controlled.
        """
        with as_generator_error("load host"):
            if self._process is None or self._process.poll() is not None:
                self._end()
            sums = files.fetch_all(self._connection, self._there() / "run", self._directory)
            clock = {**self._record.get("clock", {}), "t_uncertainty_s": clock_uncertainty_s}
            self._write(files=sums, clock=clock)

    def leave(self) -> None:
        """Remove the run's directory there. Safe to repeat."""
        if self._run is None:
            return
        with as_generator_error("load host"):
            self._end()
            self._machine.remove(self._run)
        self._run = None
        if self._record:
            self._write(removed=True)

    def take_over(self) -> None:
        """End and collect what an earlier process of ours left there, and leave."""
        with as_generator_error("load host"):
            self._end()
            if self._machine.exists(self._there()):
                self.collect(self._record.get("clock", {}).get("t_uncertainty_s"))
        self.leave()

    def _install(self, local: Path, ready: Prepared, checksum: str) -> PurePosixPath:
        """Have the binary there, and show that it runs; write down what is where."""
        where = self._connection.where
        check_fit(local, ready.system, ready.machine, where)
        if ready.free_bytes < _FREE_BYTES:
            raise GeneratorError(
                f"the load host {where} has {ready.free_bytes >> 20} MiB left in `{ready.base}`, "
                f"wanted {_FREE_BYTES >> 20}",
                "make room, or set load.host.directory in the inventory",
            )
        binary = ready.base / f"loadgen-{checksum}"
        if not ready.cached:
            files.put(self._connection, local, binary, "0700")
        self._write(
            host=where,
            system=f"{ready.system} {ready.machine}",
            version=self._machine.version(binary),
            copied=not ready.cached,
            binary_sha256=checksum,
            directory=str(ready.run),
            clock=self._machine.wall_clock(),
        )
        return binary

    def _end(self) -> None:
        if self._record.get("pid"):
            self._machine.end(self._record["pid"], self._record["started"])

    def _there(self) -> PurePosixPath:
        if self._run is None:
            raise GeneratorError(f"the load host {self._connection.where} was left already")
        return self._run

    def _write(self, **facts: Any) -> None:
        self._record |= facts
        path = self._directory / RECORD
        private_directory(path.parent)
        replace_file(path, json.dumps(self._record, indent=2) + "\n")


def recover(host: LoadHost, directory: Path) -> bool:
    """Collect what a run that died left on its load host; return whether there was anything.

    The generator there is ended, its files are fetched to the run `directory`, and its own
    directory there is removed. Raises `GeneratorError` if one of these fails; repeat it then.
    """
    path = directory / RECORD
    record = open_record(path)
    if record is None:
        return False
    RemotePlace(host, directory, record).take_over()
    return True


def machine_of(binary: Path) -> int:
    """Return `e_machine` of a Linux binary; raises `GeneratorError` for anything else."""
    with binary.open("rb") as file:
        header = file.read(20)
    if len(header) < 20 or header[:4] != b"\x7fELF":
        raise GeneratorError(
            f"the load generator `{binary}` is not a Linux program, so no load host can run it",
            "run brownout on Linux, or set BROWNOUT_LOADGEN to a Linux build",
        )
    order = "<" if header[5] == 1 else ">"
    return int(struct.unpack_from(f"{order}H", header, 18)[0])


def check_fit(binary: Path, system: str, machine: str, where: str) -> None:
    """Raise `GeneratorError` unless `where`, by its `uname -s` and `-m`, can run `binary`."""
    wanted = machine_of(binary)
    if system == "Linux" and (
        machine in _MACHINES.get(wanted, ()) or _RUNS_TOO.get(machine) == wanted
    ):
        return
    names = " or ".join(_MACHINES.get(wanted, (f"machine {wanted}",)))
    raise GeneratorError(
        f"the load host {where} is {system} on {machine}, and our load generator is for Linux on "
        f"{names}",
        "use another load host, or set BROWNOUT_LOADGEN to a build for it "
        "(`GOOS=linux GOARCH=… go build ./loadgen`)",
    )
