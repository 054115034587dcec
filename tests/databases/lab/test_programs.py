"""What a lab downloads is started only if it is what was pinned."""

import hashlib
from pathlib import Path

from brownout.databases.lab.programs import digest_problem


def sha256(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def test_a_file_is_known_by_its_sha256_and_one_that_was_changed_is_refused(tmp_path: Path) -> None:
    program = tmp_path / "server"
    program.write_bytes(b"one")
    assert digest_problem(program, [sha256(b"other"), sha256(b"one")]) is None
    program.write_bytes(b"two")
    wrong = digest_problem(program, [sha256(b"one")])
    assert wrong is not None
    assert f"found the SHA-256 {sha256(b'two')}, wanted {sha256(b'one')}" in wrong


def test_a_folder_is_known_by_every_file_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "installed"
    (folder / "lib").mkdir(parents=True)
    (folder / "a").write_bytes(b"one")
    (folder / "lib" / "b").write_bytes(b"two")
    listed = f"{sha256(b'one')}  a\n{sha256(b'two')}  lib/b\n".encode()
    assert digest_problem(folder, [sha256(listed)]) is None
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "a.pyc").touch()
    assert digest_problem(folder, [sha256(listed)]) is None
    (folder / "lib" / "c").touch()
    assert digest_problem(folder, [sha256(listed)]) is not None


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    wrong = digest_problem(tmp_path / "gone" / "..", ["0" * 64])
    assert wrong is not None
