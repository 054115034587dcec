"""Files out of a pod and into it, by the generator's own binary."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.load.kubernetes.pod_server import PodServer

from brownout.base.binary import find_loadgen
from brownout.base.errors import GeneratorError, HostError
from brownout.load.kubernetes.files import PodFiles

#: Every byte there is, none of which a text protocol would leave alone, in many messages.
BYTES = bytes(range(256)) * 8192 + os.urandom(1 << 20)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[PodServer]:
    """A pod whose depot holds a run."""
    with PodServer(tmp_path / "pod") as server:
        (server.depot / "run" / "deeper").mkdir(parents=True)
        (server.depot / "tls").mkdir()
        (server.depot / "run" / "latency.hlog").write_bytes(BYTES)
        (server.depot / "run" / "deeper" / "empty.csv").touch()
        yield server


@pytest.fixture
def files(server: PodServer) -> PodFiles:
    """What can be done with it."""
    return PodFiles(server.access, "load-0", str(find_loadgen()))


def test_files_come_as_they_are(files: PodFiles, tmp_path: Path) -> None:
    found = files.fetch(tmp_path / "run")

    assert sorted(found) == ["deeper/empty.csv", "latency.hlog"]
    assert (tmp_path / "run" / "latency.hlog").read_bytes() == BYTES
    assert (tmp_path / "run" / "deeper" / "empty.csv").read_bytes() == b""
    assert list((tmp_path / "run").rglob("*.part")) == []


def test_files_that_grew_replace_those_that_were_fetched_before(
    files: PodFiles, server: PodServer, tmp_path: Path
) -> None:
    files.fetch(tmp_path / "run")
    with (server.depot / "run" / "latency.hlog").open("ab") as grows:
        grows.write(b"more")

    files.fetch(tmp_path / "run")

    assert (tmp_path / "run" / "latency.hlog").read_bytes() == BYTES + b"more"


def test_what_arrives_damaged_is_asked_for_again(
    files: PodFiles, server: PodServer, tmp_path: Path
) -> None:
    asked = []

    def damage(data: bytes) -> bytes:
        asked.append(data)
        return data[:100] + b"?" + data[101:] if len(asked) == 2 else data

    server.damage = damage

    files.fetch(tmp_path / "run")

    assert (tmp_path / "run" / "latency.hlog").read_bytes() == BYTES


def test_what_never_arrives_whole_is_said_and_not_kept(
    files: PodFiles, server: PodServer, tmp_path: Path
) -> None:
    server.damage = lambda data: data[:-1]

    with pytest.raises(GeneratorError, match="files of pod load-0 could not be fetched whole"):
        files.fetch(tmp_path / "run")

    assert [p for p in (tmp_path / "run").rglob("*") if p.is_file()] == []


def test_certificates_go_in_for_one_user_only(files: PodFiles, server: PodServer) -> None:
    files.put({"ca_file": BYTES[: 1 << 18], "key_file": b"key"})

    assert (server.depot / "tls" / "ca_file").read_bytes() == BYTES[: 1 << 18]
    assert (server.depot / "tls" / "key_file").stat().st_mode & 0o777 == 0o600


def test_what_the_binary_there_says_is_repeated(server: PodServer, tmp_path: Path) -> None:
    files = PodFiles(server.access, "load-0", str(find_loadgen()))

    with pytest.raises(GeneratorError, match=r"load-0: .* depot end`: loadgen: open .*/pid"):
        files.end()  # there is no generator


def test_a_pod_that_cannot_be_reached_is_said_without_a_header(tmp_path: Path) -> None:
    with PodServer(tmp_path) as server:
        files = PodFiles(server.access, "load-0", str(find_loadgen()))
    with pytest.raises(HostError, match=r"exec to pod load-0 in namespace load: .*refused") as said:
        files.release()
    assert "hush" not in str(said.value)
