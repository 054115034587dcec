"""A release of Patroni that pip fetches once, into an environment of its own."""

import subprocess
from pathlib import Path

import pytest

from brownout.base.errors import ClusterError
from brownout.databases.postgresql.lab import release
from brownout.databases.postgresql.lab.settings import PostgresqlLab


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where releases are kept; there are none yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "brownout"


@pytest.mark.matrix
def test_what_pip_says_is_told_and_nothing_half_fetched_stays(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(ClusterError, match="`brownout lab up` gets it"):
        release.command("3.0.2")
    said: list[str] = []
    with pytest.raises(ClusterError, match=r"Patroni 3\.0\.2 was not fetched: ERROR: No matching"):
        release.fetch("3.0.2", said.append)
    assert said == ["fetching Patroni 3.0.2 by pip, some 60 MB, once"]
    assert list(cache.iterdir()) == []


def test_what_is_there_is_not_fetched_again(cache: Path) -> None:
    python = cache / "patroni-3.0.2" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    release.fetch("3.0.2", lambda said: pytest.fail(said))
    assert release.command("3.0.2") == (str(python), "-P", "-m", "patroni")


@pytest.mark.parametrize("named", ["3", "latest", "3.0.2 --user", "../3.0.2"])
def test_a_release_is_named_by_its_three_numbers(named: str) -> None:
    with pytest.raises(ValueError, match="patroni"):
        PostgresqlLab.model_validate({"engine": "postgresql", "patroni": named})


@pytest.mark.matrix
def test_the_release_that_was_asked_for_is_the_one_that_runs(cache: Path) -> None:
    release.fetch("3.0.2", lambda _: None)
    said = subprocess.run(
        [*release.command("3.0.2"), "--version"], capture_output=True, text=True, check=True
    )
    assert "3.0.2" in said.stdout
