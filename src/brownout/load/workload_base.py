"""What every part of a workload file is made of: settings, and what they mean for each other.

A model says of each setting by itself what it may be. What two settings mean for each other is
said by its methods marked `@check`. Both see whatever else is wrong, so a person is told of every
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
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, TypeVar

from pydantic import (
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from brownout.base.problems import Place, Problem, problems_of
from brownout.base.settings import StrictSettings

__all__ = ["Settings", "Unsound", "check", "examined"]

Check = TypeVar("Check", bound=Callable[[Any], Iterator[Problem]])
#: Validated with this context, a part keeps its problems instead of raising them.
_KEEP: Final = {"keep": True}
_MISSING: Final = object()


class Unsound(Exception):
    """A setting was read that is wrong itself: what it means for others cannot be said."""


def check(method: Check) -> Check:
    """Mark a method that yields contradictions and missing halves of a part.

    It reads the part's settings as usual; reading one that is wrong itself ends it.
    """
    method.__dict__["checks_settings"] = True
    return method


class _Wrong:
    """Stands in place of a setting's value: what pydantic says of it."""

    def __init__(self, errors: list[Any]) -> None:
        self.errors = errors


class Settings(StrictSettings):
    """A part of a workload file.

    Validated by itself it raises all of its problems; by `examined` it keeps them, and is there
    without the settings that are wrong.
    """

    _checks: ClassVar[tuple[Callable[[Any], Iterator[Problem]], ...]] = ()
    #: What pydantic says of this part's own settings, and what the checks say.
    _errors: list[Any] = PrivateAttr(default_factory=list)
    _problems: list[Problem] = PrivateAttr(default_factory=list)

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

    if not TYPE_CHECKING:  # or every misspelt attribute would pass

        def __getattr__(self, name: str) -> Any:
            if name in type(self).model_fields:
                raise Unsound(name)
            return super().__getattr__(name)

    @field_validator("*", mode="wrap")
    @classmethod
    def _setting(
        cls, value: Any, accept: ValidatorFunctionWrapHandler, info: ValidationInfo
    ) -> Any:
        if value is _MISSING:
            return _Wrong([{"type": "missing", "loc": (), "msg": "", "input": None}])
        try:
            return accept(value)
        except ValidationError as error:
            if info.context is not _KEEP:
                raise
            return _Wrong(error.errors(include_url=False))

    @model_validator(mode="wrap")
    @classmethod
    def _whole(
        cls, raw: Any, accept: ModelWrapValidatorHandler[Self], info: ValidationInfo
    ) -> Self:
        if info.context is not _KEEP:
            made = accept(raw)
        elif isinstance(raw, Mapping):
            made = cls._salvaged(raw, accept)
        else:
            made = cls.model_construct()
            made.__dict__.clear()
            made._errors = [{"type": "model_type", "loc": (), "msg": "", "input": raw}]
            return made
        with suppress(Unsound):
            made.settle()
        made._problems = [problem for one in cls._checks for problem in made._found(one)]
        if made._problems and info.context is not _KEEP:
            details = [_details(problem, raw) for problem in made._problems]
            raise ValidationError.from_exception_data(cls.__name__, details)
        return made

    @classmethod
    def _salvaged(cls, raw: Mapping[Any, Any], accept: ModelWrapValidatorHandler[Self]) -> Self:
        """Return the part with those of its settings that are right."""
        known = cls.model_fields
        absent = {
            name: _MISSING
            for name, field in known.items()
            if field.is_required() and name not in raw
        }
        made = accept({**{k: v for k, v in raw.items() if k in known}, **absent})
        errors = [
            {"type": "extra_forbidden", "loc": (str(name),), "msg": "", "input": None}
            for name in raw
            if name not in known
        ]
        for name, value in list(made.__dict__.items()):
            if isinstance(value, _Wrong):
                del made.__dict__[name]
                errors += [{**each, "loc": (name, *each["loc"])} for each in value.errors]
        made._errors = errors
        return made

    def _found(self, one: Callable[[Any], Iterator[Problem]]) -> Iterator[Problem]:
        with suppress(Unsound):
            yield from one(self)

    def _all(self, prefix: Place = ()) -> Iterator[Problem]:
        """Yield the problems of this part and of those in it, with their places in the file."""
        yield from problems_of(self._errors, type(self), prefix)
        for problem in self._problems:
            yield Problem((*prefix, *problem.place), problem.text)
        for name, value in self.__dict__.items():
            if isinstance(value, Settings):
                yield from value._all((*prefix, name))
            for index, item in enumerate(value if isinstance(value, tuple) else ()):
                if isinstance(item, Settings):
                    yield from item._all((*prefix, name, index))


Part = TypeVar("Part", bound=Settings)


def examined(model: type[Part], raw: Mapping[str, Any]) -> tuple[Part, list[Problem]]:
    """Return `raw` as a `model` and every problem of it; with one, settings may be `Unsound`."""
    made = model.model_validate(dict(raw), context=_KEEP)
    return made, list(made._all())


def _details(problem: Problem, raw: Any) -> InitErrorDetails:
    told = PydanticCustomError("contradiction", "{text}", {"text": problem.text})
    return InitErrorDetails(type=told, loc=problem.place, input=raw)
