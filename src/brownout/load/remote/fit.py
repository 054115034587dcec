"""Whether the load generator that is here can run on another machine."""

import struct
from pathlib import Path

from brownout.base.errors import GeneratorError

__all__ = ["check_fit", "machine_of"]

#: `e_machine` of an ELF file, and what `uname -m` says on such a machine.
_MACHINES = {
    3: ("i386", "i486", "i586", "i686"),
    40: ("armv6l", "armv7l", "armv8l"),
    62: ("x86_64",),
    183: ("aarch64", "arm64"),
    243: ("riscv64",),
}
_RUNS_TOO = {"x86_64": 3}


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
