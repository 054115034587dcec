"""The generator's page knows every word that the generator knows."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "generator.md").read_text()


def words(file: str, pattern: str) -> list[str]:
    found = re.findall(pattern, (ROOT / "loadgen" / file).read_text(), re.MULTILINE)
    return sorted(set(found))


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("spec/spec.go", r'json:"(\w+)"'),
        ("spec/spec.go", r'= "([a-z-]+)"'),
        ("driver/config.go", r'json:"(\w+)"'),
        ("driver/config.go", r'= "([a-z-]+)"'),
        ("driver/operation.go", r'kindNames = .*?"(\w+)"'),
        ("driver/scripted/driver.go", r'json:"(\w+)"'),
        ("scriptserver/script.go", r'yaml:"(\w+)"'),
        ("scriptserver/script.go", r'^\t\w+ += "(\w+)"'),
        ("control/session.go", r'^\t\t"(\w+)": '),
        ("engine/account/account.go", r'"(ok|late|failed|in_doubt|shed|missed)"'),
    ],
)
def test_every_word_is_explained(file: str, pattern: str) -> None:
    found = words(file, pattern)
    assert found
    assert [word for word in found if not re.search(rf"\b{word}\b", PAGE)] == []


def test_every_file_is_explained() -> None:
    found = words("record/directory.go", r'"([a-z]+\.(?:csv|hlog))"')
    assert len(found) == 6
    for name in (*found, "generator.json", "ledger.ndjson"):
        assert f"| `{name}` |" in PAGE
