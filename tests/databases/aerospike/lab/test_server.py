"""What plays a node: a real asd that starts here, or the stand-in, and never a silent exchange."""

from pathlib import Path

import pytest

from brownout.base.errors import ClusterError
from brownout.databases.aerospike.lab.server import Server, find_server
from brownout.databases.aerospike.lab.settings import AerospikeLab

SAYS = "#!/bin/sh\necho '{}'\n"
REAL = SAYS.format("Aerospike Community Edition build 8.1.2.0")


@pytest.fixture(autouse=True)
def _no_asd_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BROWNOUT_ASD", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def test_without_a_real_one_the_stand_in_plays() -> None:
    found = find_server()

    assert found.stand_in
    assert found.program.name == "asd-stand-in"


def test_a_real_one_on_path_is_taken(tmp_path: Path) -> None:
    real = program(tmp_path / "bin" / "asd", REAL)

    assert find_server() == Server(real, stand_in=False)


def test_a_named_one_wins_over_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "bin" / "asd", REAL)
    named = program(tmp_path / "mine" / "asd", REAL)
    monkeypatch.setenv("BROWNOUT_ASD", str(named))

    assert find_server().program == named


def test_the_stand_in_can_be_wanted_where_a_real_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "bin" / "asd", REAL)
    monkeypatch.setenv("BROWNOUT_ASD", "stand-in")

    assert find_server().stand_in


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SAYS.format("Aerospike Enterprise Edition build 8.1.2.0"), "Enterprise Edition"),
        (SAYS.format("something else"), "something else"),
        ("#!/bin/sh\nexit 3\n", "exit 3"),
        (None, "is not a file"),
    ],
)
def test_a_named_one_that_will_not_do_is_not_silently_replaced(
    text: str | None, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = tmp_path / "asd"
    if text is not None:
        program(named, text)
    monkeypatch.setenv("BROWNOUT_ASD", str(named))

    with pytest.raises(ClusterError, match="BROWNOUT_ASD") as caught:
        find_server()

    assert said in str(caught.value)


def test_one_on_path_that_will_not_do_is_passed_over(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "asd", "#!/bin/sh\nexit 1\n")

    assert find_server().stand_in


def test_only_the_stand_in_is_told_an_edition() -> None:
    spec = AerospikeLab(engine="aerospike", edition="community")
    file = Path("/x/aerospike.conf")

    assert Server(Path("/x/s"), True).command(spec, file)[-2:] == ("--edition", "community")
    assert Server(Path("/x/asd"), False).command(spec, file)[-1] == "--foreground"
