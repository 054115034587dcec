"""What pydantic finds wrong, in one line each: place, found, wanted, and never a secret."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, ValidationError, field_validator

from brownout.base.problems import from_validation
from brownout.base.settings import Name, Settings


class Flat(Settings):
    kind: Literal["flat"]
    size: int = 1


class Steep(Settings):
    kind: Literal["steep"]
    angle: float = 1.0


class Login(Settings):
    password: Annotated[str, Field(min_length=3)] = "none"

    @field_validator("password")
    @classmethod
    def _long(cls, text: str) -> str:
        if text == "short":
            raise ValueError("wanted a longer one")
        return text


class Whole(Settings):
    strategy: Name = "s"
    share: Annotated[float, Field(gt=0, le=1)] = 1.0
    rate: Annotated[float, Field(lt=2_000_000)] = 1.0
    many: Annotated[list[int], Field(min_length=1, default_factory=list)]
    few: Annotated[tuple[int, ...], Field(min_length=1)] = (1,)
    mix: Annotated[dict[Literal["read", "write"], float], Field(default_factory=dict)]
    slope: Annotated[Flat | Steep, Field(discriminator="kind")] = Flat(kind="flat")
    either: Flat | Steep | None = None
    login: Login = Login()
    on: bool = True
    pattern: Annotated[str, Field(pattern="^x+$")] = "x"


def problems(data: Any, **named: Any) -> list[str]:
    with pytest.raises(ValidationError) as caught:
        Whole.model_validate(data)
    return from_validation(caught.value, Whole, **named)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"share": 0}, "share: found 0, wanted more than 0"),
        ({"share": 2}, "share: found 2, wanted at most 1"),
        ({"rate": 3_000_000}, "rate: found 3000000, wanted less than 2,000,000"),
        ({"rate": "fast"}, "rate: found 'fast', wanted a number"),
        ({"many": []}, "many: found an empty list, wanted at least one"),
        ({"many": [1, "b"]}, "many[1]: found 'b', wanted a whole number"),
        ({"few": ["b"]}, "few[0]: found 'b', wanted a whole number"),
        ({"few": []}, "few: found an empty list, wanted at least one"),
        ({"many": None}, "many: found nothing, wanted a list"),
        ({"mix": {"reed": 1}}, "mix.reed: found 'reed', wanted read or write"),
        ({"on": "maybe"}, "on: found 'maybe', wanted true or false"),
        ({"strategy": "a b"}, "strategy: found 'a b', wanted letters, digits, `.`, `_` and `-`"),
        ({"pattern": "y"}, "pattern: found 'y', wanted text that matches ^x+$"),
        ({"slope": {"kind": "deep"}}, "slope: found 'deep', wanted kind: flat, steep"),
        ({"slope": {}}, "slope: found an empty mapping, wanted a mapping with kind"),
        ({"slope": {"kind": "steep", "size": 1}},
         "slope.size: unknown setting"),
        ({"starts": 1}, "starts: unknown setting, wanted one of strategy, share, "),
        ({"shar": 1}, "; did you mean `share`?"),
        ([], "the file: found an empty list, wanted a mapping"),
    ],
)  # fmt: skip
def test_a_problem_says_where_what_was_found_and_what_is_wanted(data: Any, told: str) -> None:
    (found,) = problems(data)
    assert told in found


def test_what_is_wrong_in_each_branch_of_a_union_stands_at_the_same_place() -> None:
    places = [
        each.partition(": ")[0] for each in problems({"either": {"kind": "flat", "size": "x"}})
    ]
    assert places == ["either.size", "either.kind", "either.size"]


@pytest.mark.parametrize("secret", ["hunter2-Zq8", "short", ["hunter2-Zq8"]])
def test_a_secret_is_never_repeated(secret: Any) -> None:
    for data in ({"login": {"password": secret, "size": 1}}, {"login": {"pasword": secret}}):
        text = "\n".join(problems(data))
        assert "hunter2" not in text
        assert "'short'" not in text


def test_no_value_is_repeated_where_none_may_be() -> None:
    assert problems({"rate": "hunter2-Zq8"}, values=False) == ["rate: wanted a number"]
    assert problems({"share": 7}, values=False, prefix=("a", 1)) == ["a[1].share: wanted at most 1"]
