"""YAML with the place of every error, and overrides by dotted path."""

from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from brownout.base.errors import ConfigurationError
from brownout.base.settings_file import (
    apply_overrides,
    load_yaml,
    parse_overrides,
    parse_yaml,
    read_text,
)

ROOT = Path(__file__).parents[2]
SHIPPED = sorted((ROOT / "infra" / "clusters").glob("*.yaml")) + sorted(
    (ROOT / "steady-state").rglob("*.yaml")
)
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.dates()
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1,2\nb: 3", "f.yaml:2:2: not valid YAML"),
        ("a: b: c", "f.yaml:1:5: not valid YAML"),
        ("a: 1\nb: 2\na: 3", "f.yaml:3:1: not valid YAML: setting 'a' is defined twice"),
        ("", "f.yaml: found an empty file; wanted a mapping"),
        ("- 1", "f.yaml: found a list; wanted a mapping"),
        ("[1]: 2", "f.yaml:1:1: not valid YAML"),
        ("a: \x00", "f.yaml: not valid YAML"),
        ("a: 2024-99-99", "f.yaml: not valid YAML: a value that cannot be: month must be"),
        ("a: !!bool maybe", "f.yaml: not valid YAML: a value that cannot be"),
        ("a: " + "1" * 5000, "f.yaml: not valid YAML: a value that cannot be"),
        ("[" * 5000, "f.yaml: not valid YAML: a value that cannot be"),
        ("a: &a [*a]", "f.yaml: not valid YAML: more than 100,000 values"),
        (
            "a: &a [x,x,x,x,x,x,x,x,x]\n"
            + "".join(
                f"{n}: &{n} [*{m},*{m},*{m},*{m},*{m},*{m},*{m}]\n" for m, n in pairwise("abcdefg")
            ),
            "f.yaml: not valid YAML: more than 100,000 values",
        ),
    ],
)
def test_bad_yaml_is_reported_with_its_place(text: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_yaml(text, "f.yaml")
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 1_000 + "]" * 1_000,
        "[" * 500_000,
        "{a: " * 100_000,
        "- " * 999 + "1",
        "- " * 200_000,
        "? " * 100_000,
        "\n".join("[" for _ in range(100_000)),
        "\n".join(f"{' ' * n}a:" for n in range(600)),
        "\n".join(f"{' ' * n}a:" for n in range(1_500)),
    ],
    ids=lambda text: f"{text[:4]!r} {len(text)}",
)
def test_what_is_nested_deeply_is_read_or_refused_and_ends_no_process(text: str) -> None:
    with suppress(yaml.YAMLError):
        load_yaml(text)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_shipped_file_reads_the_same_by_libyaml(path: Path) -> None:
    text = path.read_text()
    assert load_yaml(text) == yaml.safe_load(text)


@given(st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(SCALARS, inner)))
def test_what_is_written_as_yaml_reads_the_same_by_libyaml(data: object) -> None:
    text = yaml.safe_dump(data)
    assert load_yaml(text) == yaml.safe_load(text)


def test_a_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"\xff\xfe\xff")
    with pytest.raises(ConfigurationError, match="not UTF-8 text"):
        read_text(path, "workload")


def test_overrides_are_paths_and_yaml_values() -> None:
    assert parse_overrides("") == {}
    assert parse_overrides("a.0.b=4, c=[1, 2],d={x: 1, y: 2},e=text with = in it") == {
        "a.0.b": 4,
        "c": [1, 2],
        "d": {"x": 1, "y": 2},
        "e": "text with = in it",
    }


def test_every_bad_override_is_reported() -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_overrides("rate")
    assert caught.value.problems == ["override `rate`: wanted path=value, as in streams.0.rate=400"]
    with pytest.raises(ConfigurationError, match="not valid YAML"):
        parse_overrides("a=[1")


def test_null_takes_a_setting_away() -> None:
    data = {"streams": [{"name": "app", "rate": 5}]}
    changed = apply_overrides(data, parse_overrides("streams.app.rate=null, streams.app.gone=null"))

    assert changed == {"streams": [{"name": "app"}]}


def test_overrides_reach_list_items_by_index_or_name_and_leave_the_original_alone() -> None:
    data = {"streams": [{"name": "a", "rate": 1}, {"name": "b", "rate": 2}]}
    changed = apply_overrides(
        data, {"streams.0.rate": 10, "streams.b.rate": 20, "options.mongodb.journal": True}
    )
    assert [s["rate"] for s in changed["streams"]] == [10, 20]
    assert changed["options"] == {"mongodb": {"journal": True}}
    assert [s["rate"] for s in data["streams"]] == [1, 2]


def test_overrides_that_lead_nowhere_are_all_reported() -> None:
    data = {"title": "x", "streams": [{"name": "a"}]}
    with pytest.raises(ConfigurationError) as caught:
        apply_overrides(data, {"streams.7.rate": 1, "title.x": 2, "streams.c": 3})
    assert caught.value.problems == [
        "override `streams.7.rate`: no item `7`; wanted an index below 1 or one of a",
        "override `title.x`: `x` has no place: what stands there is a single value",
        "override `streams.c`: no item `c`; wanted an index below 1 or one of a",
    ]
