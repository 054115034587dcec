"""YAML with the place of every error, and overrides by dotted path."""

from itertools import pairwise
from pathlib import Path

import pytest

from brownout.base.errors import ConfigurationError
from brownout.base.settings_file import apply_overrides, parse_overrides, parse_yaml, read_text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1,2\nb: 3", "f.yaml:2:2: not valid YAML"),
        ("a: b: c", "f.yaml:1:5: not valid YAML"),
        ("a: 1\nb: 2\na: 3", "f.yaml:3:1: not valid YAML: setting 'a' is there twice"),
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
