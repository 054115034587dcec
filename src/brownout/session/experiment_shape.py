"""The shape that every experiment has: what is text, a list or a mapping, before anything reads it.

Chaos Toolkit's own checks and ours look into an experiment part by part, and take for granted that
each is a list or a mapping where it should be. Here that is checked once, before what it means.
Source: the Open API of experiments, https://chaostoolkit.org/reference/api/experiment/
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from brownout.base.problems import from_validation

__all__ = ["shape_problems"]

#: A part may be left out. It may not be `null`, as an empty `rollbacks:` is in YAML.
_ABSENT: Any = None
_Name = Annotated[str, Field(min_length=1, max_length=1000)]


class _Part(BaseModel):
    """Settings that this file does not name belong to Chaos Toolkit or an extension of it."""

    model_config = ConfigDict(extra="allow", strict=True, populate_by_name=True)


class _Provider(_Part):
    type: _Name
    module: _Name = _ABSENT
    func: _Name = _ABSENT
    path: str = _ABSENT
    url: str = _ABSENT
    arguments: dict[str, Any] | list[Any] | str = _ABSENT
    secrets: list[str] = _ABSENT


class _Control(_Part):
    name: _Name
    provider: _Provider = _ABSENT
    automatic: bool = _ABSENT


class _Pauses(_Part):
    before: int | float | str = _ABSENT
    after: int | float | str = _ABSENT


class _Activity(_Part):
    name: _Name = _ABSENT
    ref: _Name = _ABSENT
    type: _Name = _ABSENT
    provider: _Provider = _ABSENT
    pauses: _Pauses = _ABSENT
    controls: list[_Control] = _ABSENT
    background: bool | str = _ABSENT


class _Hypothesis(_Part):
    title: str = _ABSENT
    probes: list[_Activity] = _ABSENT
    controls: list[_Control] = _ABSENT


class _Strategy(_Part):
    strategy: str = _ABSENT


class _Runtime(_Part):
    rollbacks: _Strategy = _ABSENT
    hypothesis: _Strategy = _ABSENT


class _Extension(_Part):
    name: _Name
    scenario: str = _ABSENT
    needs: list[_Name] = _ABSENT
    breaks: list[_Name] = _ABSENT
    mends: list[_Name] = _ABSENT


class _Experiment(_Part):
    title: str = _ABSENT
    description: str = _ABSENT
    tags: list[str] = _ABSENT
    configuration: dict[str, Any] = _ABSENT
    secrets: dict[str, dict[str, Any]] = _ABSENT
    controls: list[_Control] = _ABSENT
    extensions: list[_Extension] = _ABSENT
    runtime: _Runtime = _ABSENT
    hypothesis: _Hypothesis = Field(default=_ABSENT, alias="steady-state-hypothesis")
    method: list[_Activity] = _ABSENT
    rollbacks: list[_Activity] = _ABSENT


def shape_problems(experiment: Mapping[str, Any]) -> list[str]:
    """Return each place of an experiment where something else stands than belongs there."""
    try:
        _Experiment.model_validate(experiment)
    except ValidationError as error:
        return from_validation(error, _Experiment)
    return []
