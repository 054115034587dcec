"""Which load hosts can run our load generator: by its ELF header and their `uname`."""

import struct
from pathlib import Path

import pytest

from brownout.base.binary import find_loadgen
from brownout.base.errors import GeneratorError
from brownout.load.remote.fit import check_fit, machine_of


def _elf(directory: Path, machine: int, order: str = "<") -> Path:
    binary = directory / "loadgen"
    ident = b"\x7fELF\x02" + (b"\x01" if order == "<" else b"\x02") + bytes(10)
    binary.write_bytes(ident + struct.pack(f"{order}HH", 2, machine))
    return binary


@pytest.mark.parametrize(
    ("machine", "name"),
    [(62, "x86_64"), (183, "aarch64"), (183, "arm64"), (3, "i686"), (3, "x86_64"), (40, "armv7l")],
)
def test_a_binary_runs_on_its_own_machine(tmp_path: Path, machine: int, name: str) -> None:
    check_fit(_elf(tmp_path, machine), "Linux", name, "load1")


@pytest.mark.parametrize(
    ("machine", "system", "name"),
    [(62, "Linux", "aarch64"), (183, "Linux", "x86_64"), (62, "Darwin", "x86_64"),
     (62, "FreeBSD", "amd64"), (62, "Linux", "i686"), (9999, "Linux", "x86_64")],
)  # fmt: skip
def test_a_binary_is_refused_elsewhere(
    tmp_path: Path, machine: int, system: str, name: str
) -> None:
    with pytest.raises(GeneratorError, match=f"load1 is {system} on {name}.*BROWNOUT_LOADGEN"):
        check_fit(_elf(tmp_path, machine), system, name, "load1")


def test_the_byte_order_of_the_header_is_heeded(tmp_path: Path) -> None:
    assert machine_of(_elf(tmp_path, 22, ">")) == 22


def test_what_is_no_linux_program_is_refused(tmp_path: Path) -> None:
    binary = tmp_path / "loadgen"
    binary.write_bytes(b"\xcf\xfa\xed\xfe" + bytes(40))

    with pytest.raises(GeneratorError, match="is not a Linux program"):
        machine_of(binary)


def test_our_own_binary_has_a_machine() -> None:
    assert machine_of(find_loadgen()) in (62, 183)
