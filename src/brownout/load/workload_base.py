"""What every part of a workload file is made of: settings, and what they mean for each other.

A model says of each setting by itself what it may be. What two settings mean for each other is
said by its methods marked `@check`. These run after pydantic's own validation; if that refused
something, they run on a copy without the settings that are wrong, so a person is told of every
problem of a file at once:

    class Span(Settings):
        first: int
        last: int

        @check
        def _order(self) -> Iterator[Problem]:
            if self.last < self.first:
                yield Problem(("last",), f"found {self.last}, wanted {self.first} or more")
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError, create_model, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from brownout.base.problems import Place, Problem, problems_of
from brownout.base.settings import StrictSettings

__all__ = ["Settings", "Unsound", "check", "examined"]

Check = TypeVar("Check", bound=Callable[[Any], Iterator[Problem]])
_CONTRADICTION = "contradiction"


class Unsound(Exception):
    """A setting was read that is wrong itself: what it means for others cannot be said."""


def check(method: Check) -> Check:
    """Mark a method that yields contradictions and missing halves of a part.

    It reads the part's settings as usual; reading one that is wrong itself ends it.
    """
    method.__dict__["checks_settings"] = True
    return method


class Settings(StrictSettings):
    """A part of a workload file."""

    _checks: ClassVar[tuple[Callable[[Any], Iterator[Problem]], ...]] = ()

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        members = [member for base in cls.__mro__ for member in vars(base).values()]
        cls._checks = tuple(m for m in members if hasattr(m, "checks_settings"))

    def sound(self, name: str) -> Any:
        """Return a setting; None of one that is wrong itself."""
        return self.__dict__.get(name)

    def settle(self) -> None:
        """Fill in the settings that follow from others."""

    def contradictions(self) -> Iterator[Problem]:
        """Yield what the checks of this part alone find."""
        for one in self._checks:
            with suppress(Unsound):
                yield from one(self)

    if not TYPE_CHECKING:  # or every misspelt attribute would pass

        def __getattr__(self, name: str) -> Any:
            if name in type(self).model_fields:
                raise Unsound(name)
            return super().__getattr__(name)

    @model_validator(mode="after")
    def _agree(self) -> Self:
        self.settle()
        details = [_details(problem) for problem in self.contradictions()]
        if details:
            raise ValidationError.from_exception_data(type(self).__name__, details)
        return self


Part = TypeVar("Part", bound=Settings)


def examined(
    model: type[Part], raw: Mapping[str, Any], base: str = "."
) -> tuple[Part | None, list[Problem]]:
    """Return `raw` as a `model`, or every problem of it; paths start from `base`."""
    try:
        return model.model_validate(dict(raw), context={"base": base}), []
    except ValidationError as error:
        own = [e for e in error.errors(include_url=False) if e["type"] != _CONTRADICTION]
    return None, [*problems_of(own, model), *_all_contradictions(_sound_part(model, raw))]


def _details(problem: Problem) -> InitErrorDetails:
    text = PydanticCustomError(_CONTRADICTION, "{text}", {"text": problem.text})
    return InitErrorDetails(type=text, loc=problem.place, input=None)


def _all_contradictions(part: Settings, prefix: Place = ()) -> Iterator[Problem]:
    """Yield the contradictions of a part and of those in it, with their places in the file."""
    if not part.__dict__:  # it is not even a mapping
        return
    for problem in part.contradictions():
        yield Problem((*prefix, *problem.place), problem.text)
    for name, value in part.__dict__.items():
        if isinstance(value, Settings):
            yield from _all_contradictions(value, (*prefix, name))
        for index, item in enumerate(value if isinstance(value, tuple) else ()):
            if isinstance(item, Settings):
                yield from _all_contradictions(item, (*prefix, name, index))


def _sound_part(model: type[Part], raw: Any) -> Part:
    """Return a part with those of its settings that are right."""
    if not isinstance(raw, Mapping):
        part = model.model_construct()
        part.__dict__.clear()
        return part
    stated = {name: raw[name] for name in model.model_fields if name in raw}
    part = model.model_construct(**stated)
    for name, value in stated.items():
        try:
            part.__dict__[name] = _sound_value(model, name, value)
        except ValidationError:
            del part.__dict__[name]
    with suppress(Unsound):
        part.settle()
    return part


def _sound_value(model: type[Settings], name: str, raw: Any) -> Any:
    """Return one setting; the parts in it are without what is wrong. Else raises as pydantic."""
    try:
        return _alone(model, name).model_validate({"value": raw}).__dict__["value"]
    except ValidationError:
        annotation = model.model_fields[name].annotation
        several = get_origin(annotation) is tuple
        for kind in get_args(annotation) or (annotation,):
            if isinstance(kind, type) and issubclass(kind, Settings):
                if not several:
                    return _sound_part(kind, raw)
                if isinstance(raw, list | tuple):
                    return tuple(_sound_part(kind, item) for item in raw)
        raise


@cache
def _alone(model: type[Settings], name: str) -> type[BaseModel]:
    """Return a model of one setting of `model`, called `value`."""
    field = model.model_fields[name]
    setting: Any = (field.annotation, field)
    return create_model(name, __base__=StrictSettings, value=setting)
