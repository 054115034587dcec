"""A file that is written in one step, and files of their owner alone."""

import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from brownout.base.errors import RunDirectoryError
from brownout.base.files import PRIVATE, SHARED, private_directory, replace_file, replacing


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def _umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


@pytest.mark.usefixtures("_umask")
def test_a_file_is_for_its_owner_unless_it_is_shared_as_the_umask_allows(tmp_path: Path) -> None:
    replace_file(tmp_path / "private", "1", PRIVATE)
    replace_file(tmp_path / "shared", "1", SHARED)
    assert _mode(tmp_path / "private") == 0o600
    assert _mode(tmp_path / "shared") == 0o640
    assert _mode(private_directory(tmp_path / "a" / "b")) == 0o700
    assert _mode(tmp_path / "a") == 0o700


def test_a_reader_never_sees_half_of_a_file(tmp_path: Path) -> None:
    file, texts = tmp_path / "x", ("a" * 100_000, "b" * 200_000)
    replace_file(file, texts[0])
    over = threading.Event()

    def write() -> None:
        for number in range(40):
            replace_file(file, texts[number % 2])
        over.set()

    writers = [threading.Thread(target=write) for _ in range(2)]
    for writer in writers:
        writer.start()
    while not over.is_set():
        assert file.read_text() in texts
    for writer in writers:
        writer.join()
    assert list(tmp_path.iterdir()) == [file]


def test_the_old_file_stays_where_the_new_one_fails(tmp_path: Path) -> None:
    file = tmp_path / "x"
    replace_file(file, b"old")

    def fail() -> None:
        with replacing(file) as beside:
            beside.write_text("half of")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


def test_what_cannot_be_written_is_said_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match=r"no/x: cannot be written: No such file"):
        replace_file(tmp_path / "no" / "x", "")
    (tmp_path / "folder").mkdir()
    with pytest.raises(RunDirectoryError, match=r"folder: cannot be written: Is a directory"):
        replace_file(tmp_path / "folder", "")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_place_that_became_a_file_is_said_as_any_other(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.write_text("")
    with pytest.raises(RunDirectoryError, match="cannot be written"):
        replace_file(place / "record.json", "{}")
