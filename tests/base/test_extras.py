"""The command that adds an extra names where this brownout came from."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from brownout.base import extras
from brownout.base.extras import how_to_install


@pytest.fixture
def came_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Any], None]]:
    """Make the installation one of brownout with this record of its origin."""
    info = tmp_path / "brownout-9.9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: brownout\nVersion: 9.9\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(origin: Any) -> None:
        if origin is not None:
            (info / "direct_url.json").write_text(json.dumps(origin))
        extras._origin.cache_clear()

    yield write
    extras._origin.cache_clear()


def test_a_package_index_knows_the_name(came_from: Callable[[Any], None]) -> None:
    came_from(None)
    assert how_to_install("atlas") == "pip install 'brownout[atlas]'"


@pytest.mark.parametrize(("editable", "option"), [(True, "-e "), (False, "")])
def test_a_checkout_is_named_by_its_folder(
    editable: bool, option: str, came_from: Callable[[Any], None], tmp_path: Path
) -> None:
    (checkout := tmp_path / "my checkout").mkdir()
    came_from({"url": checkout.as_uri(), "dir_info": {"editable": editable}})
    assert how_to_install("ssh") == f"pip install {option}'{checkout}[ssh]'"


def test_a_wheel_is_named_by_its_file(came_from: Callable[[Any], None], tmp_path: Path) -> None:
    (wheel := tmp_path / "brownout-9.9-py3-none-any.whl").touch()
    came_from({"url": wheel.as_uri(), "archive_info": {}})
    assert how_to_install("lab") == f"pip install '{wheel}[lab]'"


def test_what_is_there_no_more_is_not_named(
    came_from: Callable[[Any], None], tmp_path: Path
) -> None:
    came_from({"url": (tmp_path / "gone.whl").as_uri(), "archive_info": {}})
    assert how_to_install("lab") == "install brownout again, with the extra `lab`"


def test_a_repository_is_named_with_the_commit(came_from: Callable[[Any], None]) -> None:
    came_from({"url": "https://example.org/b.git", "vcs_info": {"vcs": "git", "commit_id": "4f2a"}})
    wanted = "pip install 'brownout[lab] @ git+https://example.org/b.git@4f2a'"
    assert how_to_install("lab") == wanted


def test_an_address_is_named(came_from: Callable[[Any], None]) -> None:
    came_from({"url": "https://example.org/brownout.whl", "archive_info": {}})
    assert how_to_install("lab") == "pip install 'brownout[lab] @ https://example.org/brownout.whl'"
