"""`brownout bundle` and `brownout verify`: whole, damaged, forged and hostile archives."""

import gzip
import hashlib
import io
import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Brownout, brownout, home
from tests.fuzzing import answers
from tests.run_builder import RunScript, build_run

from brownout.faults import open_runs
from brownout.judge.analysis import analyze

__all__ = ["brownout", "home"]

RUN = "20261122T101500Z-node-kill-4711"
Entries = list[tuple[tarfile.TarInfo, bytes]]


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the first test's bundle and its run are kept for the others."""
    return tmp_path_factory.mktemp("bundled")


@pytest.fixture
def made(brownout: Brownout, home: Path, once: Path) -> Path:
    """A bundle of a run in whose files secrets were left by mistake."""
    if any(once.iterdir()):
        shutil.copytree(once, home, dirs_exist_ok=True)
        return home / "it.tar.gz"
    run = build_run(home / "runs", RunScript(duration_s=45, rate=150))
    (run / "generator.log").write_text("dial mongodb://app:hunter2@db1:27017 failed\nfine\n")
    journal = json.loads((run / "journal.json").read_text())
    (run / "journal.json").write_text(json.dumps({**journal, "api_key": "hunter2"}))
    said = brownout("bundle", run.name, "-o", home / "it.tar.gz")
    assert said.code == 0, said.err
    assert "secrets were taken out of generator.log, journal.json" in said.err
    shutil.copytree(home, once, dirs_exist_ok=True)
    return home / "it.tar.gz"


def changed(path: Path, change: Callable[[Entries], object]) -> Path:
    """The bundle with its entries changed."""
    with tarfile.open(path) as archive:
        entries = [(e, f.read() if (f := archive.extractfile(e)) else b"") for e in archive]
    change(entries)
    target = path.with_name("changed.tar.gz")
    with tarfile.open(target, "w:gz") as archive:
        for entry, data in entries:
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return target


def place_of(entries: Entries, name: str) -> int:
    return next(n for n, (entry, _) in enumerate(entries) if entry.name == f"{RUN}/{name}")


def replaced(name: str, data: bytes) -> Callable[[Entries], object]:
    def change(entries: Entries) -> None:
        place = place_of(entries, name)
        entries[place] = (entries[place][0], data)

    return change


def with_entry(name: str, kind: bytes = tarfile.REGTYPE) -> Callable[[Entries], object]:
    def change(entries: Entries) -> None:
        entry = tarfile.TarInfo(name)
        entry.type, entry.linkname = kind, "/etc/passwd"
        entries.append((entry, b""))

    return change


def test_a_bundle_holds_the_whole_run_and_no_secret(made: Path, brownout: Brownout) -> None:
    with tarfile.open(made) as archive:
        names = [entry.name.removeprefix(f"{RUN}/") for entry in archive]
        texts = {n: archive.extractfile(f"{RUN}/{n}").read() for n in names}  # type: ignore[union-attr]
    assert names[0] == "manifest.json"
    assert {"run.json", "series.csv", "latency.hlog", "events.ndjson", "impact.json"} <= set(names)
    assert {"ledger.ndjson", "journal.json", "generator.log", "report.html"} <= set(names)
    assert not [name for name, text in texts.items() if b"hunter2" in text]
    assert texts["generator.log"] == b"dial mongodb://***@db1:27017 failed\nfine\n"
    manifest = json.loads(texts["manifest.json"])
    assert manifest["versions"]["server"] == "mongod 6.0.5"
    said = brownout("verify", made)
    assert (said.code, said.out.startswith("as it was bundled:")) == (0, True)


def test_a_run_without_a_secret_is_bundled_byte_by_byte(brownout: Brownout, home: Path) -> None:
    run = build_run(home / "runs", RunScript(duration_s=45, rate=150))
    said = brownout("bundle")
    assert (said.code, said.err) == (0, "")
    with tarfile.open(home / f"{RUN}.tar.gz") as archive:
        for path in run.iterdir():
            file = archive.extractfile(f"{RUN}/{path.name}")
            assert file is not None
            assert file.read() == path.read_bytes(), path.name


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (replaced("series.csv", b"t,stream\n"), "damaged: series.csv"),
        (lambda entries: entries.pop(place_of(entries, "events.ndjson")), "missing: events.ndjson"),
        (with_entry(f"{RUN}/more.txt"), "added: more.txt"),
        (with_entry(f"{RUN}/series.csv"), "added: series.csv, a second time"),
        (with_entry("../outside"), "unsafe: '../outside' leads out of the bundle's folder"),
        (with_entry("/etc/cron.d/x"), "unsafe: '/etc/cron.d/x' leads out"),
        (with_entry(f"{RUN}/a/../../x"), "leads out of the bundle's folder"),
        (with_entry(f"{RUN}/link", tarfile.SYMTYPE), "is a link or no file"),
        (with_entry(f"{RUN}/hard", tarfile.LNKTYPE), "is a link or no file"),
        (with_entry(f"{RUN}/pipe", tarfile.FIFOTYPE), "is a link or no file"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_what_is_not_as_it_was_is_named(
    change: Callable[[Entries], object], said: str, made: Path, brownout: Brownout, home: Path
) -> None:
    before = sorted(path for path in home.rglob("*") if "changed" not in path.name)
    found = brownout("verify", changed(made, change))
    assert (found.code, said in found.out) == (1, True), found.out
    assert sorted(p for p in home.rglob("*") if "changed" not in p.name) == before


def test_a_forged_bundle_is_told_by_its_own_checksum(
    made: Path, brownout: Brownout, home: Path
) -> None:
    right = hashlib.sha256(made.read_bytes()).hexdigest()
    assert brownout("verify", made, "--sha256", right).code == 0
    found = brownout("verify", made, "--sha256", "0" * 64)
    assert (found.code, "the archive is another one" in found.out) == (1, True)
    assert brownout("verify", made, "--sha256", "soon").code == 64


@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_an_archive_that_ends_early_is_damaged(
    share: float, made: Path, brownout: Brownout
) -> None:
    data = made.read_bytes()
    made.write_bytes(data[: int(len(data) * share)])
    found = brownout("verify", made)
    assert (found.code, "damaged: the archive itself" in found.out) == (1, True)
    assert ("missing: " in found.out) == (share < 0.9)


@pytest.mark.parametrize(
    "spoilt",
    [
        lambda path: path.write_bytes(b"nothing"),
        lambda path: path.write_bytes(gzip.compress(b"no tar")),
        lambda path: path.unlink(),
        lambda path: changed(path, lambda e: e.pop(0)).replace(path),
        lambda path: changed(path, replaced("manifest.json", b"{}")).replace(path),
        lambda path: changed(path, replaced("manifest.json", json.dumps({
            "run_id": "../x", "bundled": "", "brownout": "", "verdict": "pass",
            "stand_in": False, "versions": {}, "files": {}}).encode())).replace(path),
    ],
)  # fmt: skip
def test_what_is_no_bundle_is_refused(
    spoilt: Callable[[Path], object], made: Path, brownout: Brownout
) -> None:
    spoilt(made)
    assert brownout("verify", made).code == 64


def test_a_run_that_goes_on_or_has_links_is_not_bundled(
    made: Path, brownout: Brownout, home: Path
) -> None:
    run = home / "runs" / RUN
    again = brownout("bundle", run, "-o", made)
    assert (again.code, "is there already" in again.err) == (64, True)
    (run / "link").symlink_to("/etc/passwd")
    linked = brownout("bundle", run, "-o", home / "other.tar.gz")
    assert (linked.code, "is a link" in linked.err) == (64, True)
    open_runs.claim("lab-mongodb", run, "lab-mongodb", brought_up=False)
    going = brownout("bundle", run, "-o", home / "other.tar.gz")
    assert (going.code, "so its files are not final" in going.err) == (64, True)


def test_a_stand_in_is_named_though_the_record_of_its_run_is_torn(
    brownout: Brownout, home: Path
) -> None:
    run = build_run(home / "runs", RunScript(duration_s=45, rate=150))
    record = json.loads((run / "run.json").read_text())
    record["cluster"]["stand_in"] = True
    (run / "run.json").write_text(json.dumps(record))
    analyze(run)
    impact = json.loads((run / "impact.json").read_text())
    (run / "run.json").write_text("{")
    said = brownout("bundle", run.name, "-o", home / "torn.tar.gz")
    assert said.code == 0, said.err
    with tarfile.open(home / "torn.tar.gz") as archive:
        manifest = archive.extractfile(f"{run.name}/manifest.json")
        assert manifest is not None
        found = json.load(manifest)
    assert found["stand_in"] is True
    assert found["versions"]["server"] == impact["versions"]["server"]


def _zeros(target: Path, before: bytes, header: bytes, size: int) -> None:
    """Write a gzip of `before`, then `header`, then `size` zeros."""
    with gzip.open(target, "wb", compresslevel=1) as file:
        file.write(before + header)
        for _ in range(size >> 20):
            file.write(bytes(1 << 20))


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        (tarfile.XHDTYPE, "before the manifest"),
        (tarfile.XGLTYPE, "behind it"),
        (tarfile.GNUTYPE_LONGNAME, "behind it"),
    ],
)
def test_a_header_that_unpacks_to_gigabytes_is_not_read(
    made: Path, brownout: Brownout, kind: bytes, place: str
) -> None:
    """A header is read into memory whole: 14 MB of pax took 3 GB."""
    header = tarfile.TarInfo("long")
    header.type, header.size = kind, 768 << 20
    with gzip.open(made) as file, tarfile.open(fileobj=file) as archive:
        first = archive.next()
        assert first is not None
        second = archive.next()
        assert second is not None
    with gzip.open(made) as file:
        manifest = file.read(second.offset)
    before = b"" if place == "before the manifest" else manifest
    trap = made.with_name("trap.tar.gz")
    _zeros(trap, before, header.tobuf(tarfile.GNU_FORMAT), 768 << 20)

    def check() -> int:
        return brownout("verify", trap).code

    assert answers(check) in (1, 64)


def test_a_bundle_that_says_it_unpacks_to_more_than_any_run_is_refused(
    made: Path, brownout: Brownout
) -> None:
    def swell(entries: Entries) -> None:
        manifest = json.loads(entries[0][1])
        manifest["files"]["series.csv"]["bytes"] = 1 << 40
        entries[0] = entries[0][0], json.dumps(manifest).encode()

    refused = brownout("verify", changed(made, swell))
    assert refused.code == 64
    assert "1,099," in refused.err
