"""A generator whose files wait in a depot: what an exec beside it can do, without a shell."""

import hashlib
import io
import json
import subprocess
import tarfile
from pathlib import Path

import pytest
from tests.loadgen.driving import Load, Server, specification, verified

from brownout.base.binary import find_loadgen


def depot(*words: str, stdin: bytes = b"") -> bytes:
    """Run `loadgen depot …`; an error of it fails the test."""
    done = subprocess.run([find_loadgen(), "depot", *words], input=stdin, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def sent(directory: Path) -> dict[str, bytes]:
    """Return the files of a depot's run, each compared with its hash."""
    with tarfile.open(fileobj=io.BytesIO(depot("send", str(directory)))) as archive:
        entries = [(entry.name, archive.extractfile(entry)) for entry in archive]
        files = {name: file.read() for name, file in entries if file is not None}
    sums = files.pop("SHA256SUMS").decode().splitlines()
    assert sorted(line.split("  ") for line in sums) == sorted(
        [hashlib.sha256(text).hexdigest(), name] for name, text in files.items()
    )
    return files


def test_files_are_fetched_during_a_load_and_after_its_end(tmp_path: Path) -> None:
    where = tmp_path / "depot"
    with Server(tmp_path / "server", {}) as server, Load(depot=where) as load:
        load.begin(specification(server, where / "run", verified()))
        load.until(1)
        during = sent(where)
        depot("end", str(where))  # SIGTERM, until the files are complete
        assert load.hear("stopped")["stop_reason"] == "signal"
        assert load.hear("ended")["code"] == 0
        assert load.process.poll() is None
        after = sent(where)
        depot("release", str(where))
        assert load.join() == 0
    assert after["series.csv"].startswith(during["series.csv"])
    assert json.loads(after["generator.json"])["ended"]
    assert not json.loads(during["generator.json"])["ended"]
    assert {p.name: p.read_bytes() for p in (where / "run").iterdir()} == after


def test_a_generator_holds_its_files_only_so_long(tmp_path: Path) -> None:
    with Load(depot=tmp_path, hold_s=0.1) as load:
        assert load.finish() == 0  # nobody released it


@pytest.mark.parametrize(
    "words", [[], ["send"], ["take", "x"], ["send", "x", "y"], ["throw", "x"], ["end", "/nowhere"]]
)
def test_what_a_depot_cannot_do_is_said(words: list[str]) -> None:
    done = subprocess.run([find_loadgen(), "depot", *words], capture_output=True, text=True)

    assert done.returncode in (1, 64)
    assert done.stderr.startswith("loadgen: ")
