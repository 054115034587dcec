"""Finding the load generator."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from brownout.base import binary
from brownout.base.errors import GeneratorError


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """An executable that says its arguments."""
    path = tmp_path / "loadgen"
    path.write_text('#!/bin/sh\necho "said: $*"\n')
    path.chmod(0o755)
    return path


def test_the_packages_own_binary_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(binary.VARIABLE, raising=False)
    assert os.access(binary.find_loadgen(), os.X_OK)


def test_a_named_binary_comes_first(monkeypatch: pytest.MonkeyPatch, script: Path) -> None:
    monkeypatch.setenv(binary.VARIABLE, str(script))
    assert binary.find_loadgen() == script
    assert binary.loadgen_version() == "said: --version"


def test_a_named_binary_that_is_none_is_not_replaced_silently(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(binary.VARIABLE, str(tmp_path))
    with pytest.raises(GeneratorError, match=f"`BROWNOUT_LOADGEN` names `{tmp_path}`"):
        binary.find_loadgen()


def test_a_missing_binary_is_told_with_every_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(binary.VARIABLE, raising=False)
    monkeypatch.setattr(binary, "files", lambda _: tmp_path)
    with pytest.raises(GeneratorError) as caught:
        binary.find_loadgen()
    assert str(tmp_path / "bin" / "loadgen") in str(caught.value)
    assert "BROWNOUT_LOADGEN is not set" in str(caught.value)
    assert "make setup" in caught.value.hint


def test_a_binary_that_fails_is_named(monkeypatch: pytest.MonkeyPatch, script: Path) -> None:
    script.write_text("#!/bin/sh\nexit 3\n")
    monkeypatch.setenv(binary.VARIABLE, str(script))
    with pytest.raises(GeneratorError, match=f"`{script} --version` failed"):
        binary.loadgen_version()


def test_the_command_becomes_the_binary(script: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from brownout.base.binary import main; main()", "run", "x"],
        env={**os.environ, binary.VARIABLE: str(script)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "said: run x\n"
