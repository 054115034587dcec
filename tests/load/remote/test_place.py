"""The generator on another host: the same run directory as here, and nothing left over there."""

import json
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.loadgen.driving import Server, check_identities, rows, specification, verified
from tests.sshd import Sshd
from tests.waiting import await_true
from tests.wording import naming

from brownout.base.binary import find_loadgen
from brownout.base.errors import ConfigurationError, GeneratorError
from brownout.load.generator import Generator
from brownout.load.remote import LoadHost, RemotePlace, recover
from brownout.load.remote.files import hash_of
from brownout.load.remote.place import check_fit, machine_of
from brownout.machine import procfs

Start = Callable[..., Generator]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A database that never fails."""
    with Server(tmp_path / "server", {"lanes": 2, "latency_ms": 1, "effects": []}) as server:
        yield server


@pytest.fixture
def start(used_host: LoadHost, server: Server, tmp_path: Path) -> Iterator[Start]:
    """Start a load on the load host; its run directory here is `tmp_path / "run"`."""
    with ExitStack() as generators:

        def make(**changes: Any) -> Generator:
            directory = tmp_path / "run"
            generator = Generator(directory, place=RemotePlace(used_host, directory))
            generators.callback(generator.close)
            generator.open(specification(server, directory, verified(), **changes))
            generator.load()
            generator.start()
            await_true(lambda: (generator.now() or 0.0) > 1.0)
            return generator

        yield make


def record(tmp_path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((tmp_path / "run" / "load-host.json").read_text())
    return found


def left_there(tmp_path: Path) -> list[str]:
    return sorted(entry.name.split("-")[0] for entry in (tmp_path / "there").iterdir())


def alive(found: Mapping[str, Any]) -> bool:
    identity = procfs.identify(found["pid"])
    return identity is not None and identity.started == found["started"]


def test_a_run_over_there_is_complete_here_and_gone_there(start: Start, tmp_path: Path) -> None:
    generator = start()
    t = generator.now()
    assert t is not None
    await_true(lambda: (generator.now() or 0.0) > 2.0)

    stopped = generator.stop()
    assert (tmp_path / "run" / "series.csv").exists()  # before the read-back already
    ledger = generator.verify()
    generator.close()

    check_identities(tmp_path / "run")
    offered = sum(row.n("offered") for row in rows(tmp_path / "run" / "series.csv"))
    assert offered > 300
    assert 0 <= stopped["offered"] - offered <= 30  # of the last bucket, which is not whole
    assert (ledger["read"], ledger["unread"]) == (400, 0)
    found = record(tmp_path)
    for name, checksum in found["files"].items():
        assert hash_of(tmp_path / "run" / name) == checksum
    assert {"series.csv", "latency.hlog", "ledger.ndjson", "generator.json"} <= set(found["files"])
    assert found["removed"]
    assert not alive(found)
    assert left_there(tmp_path) == ["loadgen"]


def test_the_clocks_are_compared_and_their_uncertainty_is_recorded(
    start: Start, tmp_path: Path
) -> None:
    generator = start()
    before, asked = generator.now(), time.monotonic()
    after = generator.to_t(asked)
    generator.stop()
    uncertainty = generator.clock_uncertainty

    assert before is not None
    assert after is not None
    assert uncertainty is not None
    assert 0 <= after - before < 0.5
    clock = record(tmp_path)["clock"]
    # The load host of the test is this machine: its clock is ours.
    assert abs(clock["wall_offset_s"]) <= clock["wall_uncertainty_s"] + 1e-4
    assert 0 < clock["t_uncertainty_s"] <= 1.0


def test_a_binary_that_is_there_is_not_copied_again(bare_host: LoadHost, tmp_path: Path) -> None:
    for wanted in (True, False):
        Generator(tmp_path / "run", place=RemotePlace(bare_host, tmp_path / "run")).close()
        assert record(tmp_path)["copied"] is wanted

    (binary,) = (tmp_path / "there").iterdir()
    assert binary.name == f"loadgen-{hash_of(find_loadgen())}"
    assert hash_of(binary) == hash_of(find_loadgen())


def test_a_damaged_binary_over_there_is_replaced(bare_host: LoadHost, tmp_path: Path) -> None:
    binary = tmp_path / "there" / f"loadgen-{hash_of(find_loadgen())}"
    binary.parent.mkdir()
    binary.write_bytes(b"half of it")

    Generator(tmp_path / "run", place=RemotePlace(bare_host, tmp_path / "run")).close()

    assert hash_of(binary) == hash_of(find_loadgen())


def test_a_generator_whose_connection_broke_ends_within_its_linger(
    start: Start, sshd: Sshd, tmp_path: Path
) -> None:
    generator = start(linger_s=1.0)
    found = record(tmp_path)

    sshd.stop()

    await_true(lambda: not generator.alive)
    await_true(lambda: not alive(found))  # by itself: nothing can reach it
    sshd.start()
    summary = json.loads(next((tmp_path / "there").glob("run-*/run/generator.json")).read_text())
    assert summary["ended"]
    with pytest.raises(GeneratorError, match=naming("ssh", sshd.address)):
        generator.stop()


def test_the_files_of_a_run_whose_connection_broke_are_fetched_all_the_same(
    start: Start, sshd: Sshd, tmp_path: Path
) -> None:
    generator = start()
    sshd.cut()
    await_true(lambda: not generator.alive)

    generator.close()  # over a new connection; the generator there is ended in order

    check_identities(tmp_path / "run")
    assert json.loads((tmp_path / "run" / "generator.json").read_text())["ended"]
    assert not alive(record(tmp_path))
    assert left_there(tmp_path) == ["loadgen"]


#: A run of brownout, as far as its load goes.
RUN = """
import json, sys
from pathlib import Path
from brownout.load.generator import Generator
from brownout.load.remote import LoadHost, RemotePlace
host, spec = (json.loads(text) for text in sys.argv[1:])
directory = Path(spec["dir"])
place = RemotePlace(LoadHost.model_validate(host), directory)
generator = Generator(directory, on_live=lambda live: print(live["t"], flush=True), place=place)
generator.open(spec)
generator.load()
generator.start()
sys.stdin.read()
"""


def test_a_run_that_was_killed_is_recovered_later(
    used_host: LoadHost, server: Server, tmp_path: Path
) -> None:
    spec = specification(server, tmp_path / "run", verified())
    words = [used_host.model_dump_json(exclude_none=True), json.dumps(spec)]
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", RUN, *words], stdin=pipe, stdout=pipe) as run:
        assert run.stdout is not None
        while float(run.stdout.readline()) < 1.0:
            pass
        run.kill()
    found = record(tmp_path)
    assert alive(found)

    assert recover(used_host, tmp_path / "run")

    check_identities(tmp_path / "run")
    assert not alive(found)
    assert left_there(tmp_path) == ["loadgen"]
    assert not recover(used_host, tmp_path / "run")


def test_a_directory_that_is_no_run_of_ours_is_never_removed(
    used_host: LoadHost, tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    (precious / "run").mkdir(parents=True)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "load-host.json").write_text(json.dumps({"directory": str(precious)}))

    with pytest.raises(GeneratorError, match="is not a run of ours on a load host"):
        recover(used_host, tmp_path / "run")

    assert precious.is_dir()


def test_a_generator_that_dies_over_there_is_noticed_with_its_last_words(
    start: Start, tmp_path: Path
) -> None:
    generator = start()
    os.kill(record(tmp_path)["pid"], signal.SIGKILL)

    await_true(lambda: not generator.alive)

    with pytest.raises(GeneratorError, match=r"the load generator ended \(signal 9\)"):
        generator.stop()
    generator.close()
    assert (tmp_path / "run" / "series.csv").exists()


def test_certificates_go_with_the_run_and_are_removed_with_it(
    used_host: LoadHost, tmp_path: Path
) -> None:
    authority = tmp_path / "ca.pem"
    authority.write_text("-----BEGIN CERTIFICATE-----\n")
    place = RemotePlace(used_host, tmp_path / "run")
    place.command()

    spec = place.settle(
        {
            "dir": "here",
            "connection": {"uri": "x", "tls": {"ca_file": str(authority), "cert_file": ""}},
        }
    )

    there = Path(spec["connection"]["tls"]["ca_file"])
    assert there.read_text() == authority.read_text()
    assert there.stat().st_mode & 0o777 == 0o600
    assert Path(spec["dir"]).parent == there.parent.parent
    place.leave()
    assert not there.exists()


def test_nothing_of_the_connection_is_written_over_there(
    used_host: LoadHost, server: Server, tmp_path: Path
) -> None:
    secret = "hush-hush-4711"
    spec = specification(server, tmp_path / "run", verified())
    spec["connection"] |= {"username": "ann", "password": secret}
    with Generator(tmp_path / "run", place=RemotePlace(used_host, tmp_path / "run")) as generator:
        generator.open(spec)
        found = subprocess.run(["grep", "-rl", secret, str(tmp_path)], capture_output=True)
        words = Path(f"/proc/{generator.pid}/cmdline").read_bytes()

    assert found.stdout == b""
    assert secret.encode() not in words


def test_a_load_host_that_cannot_be_reached_says_so(
    used_host: LoadHost, sshd: Sshd, tmp_path: Path
) -> None:
    sshd.stop()

    with pytest.raises(GeneratorError, match=r"load host: ssh: .* cannot be reached"):
        Generator(tmp_path / "run", place=RemotePlace(used_host, tmp_path / "run"))


def test_a_load_host_of_another_kind_is_refused_and_left(
    bare_host: LoadHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign = tmp_path / "loadgen-s390x"
    foreign.write_bytes(b"\x7fELF\x02\x02\x01" + bytes(9) + b"\x00\x02\x00\x16")
    foreign.chmod(0o755)
    monkeypatch.setenv("BROWNOUT_LOADGEN", str(foreign))

    with pytest.raises(GeneratorError, match=r"is Linux on .*, and our load generator is for"):
        Generator(tmp_path / "run", place=RemotePlace(bare_host, tmp_path / "run"))

    assert left_there(tmp_path) == []


def test_a_load_host_without_an_address_is_bad_input() -> None:
    with pytest.raises(ValueError, match="address\n  Field required"):
        LoadHost.model_validate({"user": "ann"})


def test_an_unknown_host_key_of_a_load_host_is_refused(
    used_host: LoadHost, sshd: Sshd, tmp_path: Path
) -> None:
    sshd.known_hosts.write_text("")

    with pytest.raises((GeneratorError, ConfigurationError), match="is unknown"):
        Generator(tmp_path / "run", place=RemotePlace(used_host, tmp_path / "run"))


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
