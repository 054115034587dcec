"""What a gameday.yaml says: which experiments, where, in which order, when, and whom to tell.

    cluster: staging
    experiments:
      - stepdown
      - {experiment: node-pause, variables: {hang_s: 4}}
    cool_down: {at_least_s: 30}
    window: {weekly: ["Tue 10:00-12:00 Europe/Berlin"]}

`docs/gamedays.md` explains every setting. Models are frozen; `gameday_file` makes them and
checks what
is outside the file.
"""

from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from brownout.base.durations import DURATION_PATTERN, parse_duration
from brownout.base.errors import ConfigurationError
from brownout.base.secret import Secret
from brownout.base.settings import Settings
from brownout.inventory.hours import parse_window, zone_of
from brownout.runs.series_file import SeriesFile
from brownout.session.stop_conditions import Condition, parse_conditions

__all__ = ["CoolDown", "Freeze", "GameDay", "Notify", "Schedule", "Step", "StopOn", "WindowSpec"]


def _span(value: Any) -> Any:
    """`90s`, `10m`, `2h`, `30d`, `8w`."""
    if isinstance(value, timedelta):
        return value
    span = timedelta(seconds=parse_duration(str(value)))
    if not span:
        raise ValueError("wanted more than 0s")
    return span


Span = Annotated[
    timedelta,
    BeforeValidator(_span),
    WithJsonSchema({"type": "string", "pattern": DURATION_PATTERN}),
]


def _moment(value: Any) -> Any:
    """An ISO 8601 time with its offset, as text or as YAML reads it."""
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ValueError("wanted a moment with its offset, as 2026-11-24T10:00:00+01:00")
    return moment


Moment = Annotated[datetime, BeforeValidator(_moment)]


def _conditions(value: Any) -> Any:
    try:
        return tuple(parse_conditions(list(value) if isinstance(value, tuple) else value))
    except ConfigurationError as error:
        raise ValueError("; ".join(error.problems)) from error


def _zone(text: str) -> str:
    zone_of(text)
    return text


def _hours(text: str) -> str:
    parse_window(text)
    return text


Zone = Annotated[str, AfterValidator(_zone)]
Hours = Annotated[str, AfterValidator(_hours)]
Conditions = Annotated[tuple[Condition, ...], BeforeValidator(_conditions)]


class Step(Settings):
    """One experiment of the day. In the file it may stand as its name alone."""

    experiment: Annotated[str, Field(min_length=1, description="a name, or a file beside this one")]
    name: Annotated[
        str, Field(pattern=r"^([A-Za-z0-9][A-Za-z0-9._-]{0,62})?$", description="in this game day")
    ] = ""
    variables: Annotated[
        dict[str, Any], Field(description="as `chaos run --var` sets them; never the cluster")
    ] = Field(default_factory=dict)
    takes: Annotated[
        Span | None, Field(description="about how long; else as long as its last run")
    ] = None

    @property
    def called(self) -> str:
        """Its name in this game day: what it was given, or the experiment's."""
        return self.name or Path(self.experiment).stem


class CoolDown(Settings):
    """What must be so before the next experiment begins."""

    until: Annotated[
        Literal["redundant", "whole"], Field(description="the milestone that is awaited")
    ] = "redundant"
    at_least_s: Annotated[float, Field(ge=0, le=86_400, description="and no sooner than this")] = 60
    limit_s: Annotated[
        float, Field(gt=0, le=86_400, description="not reached by then: the day ends")
    ] = 600


class StopOn(Settings):
    """Whether the day continues after such a verdict. Aborted, or not put back, always ends it."""

    fail: Literal["stop", "go on"] = "stop"
    inconclusive: Literal["stop", "go on"] = "stop"


class WindowSpec(Settings):
    """When a game day may run: within `begins` and `ends`, in the hours of `weekly`."""

    weekly: Annotated[
        tuple[Hours, ...],
        Field(description="as `Tue 10:00-12:00 Europe/Berlin`; none means any time"),
    ] = ()
    begins: Annotated[Moment | None, Field(description="not before; with its offset")] = None
    ends: Annotated[Moment | None, Field(description="over by then; with its offset")] = None

    @model_validator(mode="after")
    def _in_order(self) -> "WindowSpec":
        if self.begins and self.ends and self.begins >= self.ends:
            raise ValueError("found an end that is not after the begin")
        return self


class Freeze(Settings):
    """Days on which nothing is broken on purpose."""

    first: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$", description="day, 2026-12-18")]
    last: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$", description="that day included")]
    why: Annotated[str, Field(min_length=1)]
    zone: Annotated[Zone, Field(description="whose days")] = "UTC"

    @field_validator("first", "last", mode="before")
    @classmethod
    def _is_day(cls, value: Any) -> Any:
        text = str(value)  # YAML makes a date of it
        try:
            datetime.strptime(text, "%Y-%m-%d")
        except ValueError as error:
            raise ValueError("wanted a day as 2026-12-18") from error
        return text

    @model_validator(mode="after")
    def _in_order(self) -> "Freeze":
        if self.last < self.first:
            raise ValueError("found a last day before the first")
        return self


class Schedule(Settings):
    """When `brownout gameday serve` starts it: by a crontab's five fields, or once."""

    cron: Annotated[str, Field(description="as `0 10 * * tue`")] = ""
    zone: Annotated[Zone, Field(description="of `cron`")] = "UTC"
    at: Annotated[Moment | None, Field(description="once; with its offset")] = None
    late: Annotated[
        Span, Field(description="it may begin so much later; after that it is missed")
    ] = timedelta(minutes=5)

    @model_validator(mode="after")
    def _is_one(self) -> "Schedule":
        if bool(self.cron) == bool(self.at):
            raise ValueError("wanted one of cron and at")
        return self


class Notify(Settings):
    """Whom to tell of what, by one of Apprise's URLs, which hold secrets and stand elsewhere."""

    url: Annotated[Secret, Field(description="json://…, slack://…, mailto://…, by reference")]
    name: Annotated[str, Field(min_length=1, description="what people call it in messages")]
    about: Annotated[
        tuple[Literal["begin", "fail", "end", "stale"], ...],
        Field(
            min_length=1,
            description="the day begins; a step did not pass, or the day was missed or died; the "
            "day is over; a pass is too old",
        ),
    ] = ("begin", "fail", "end", "stale")


class GameDay(SeriesFile):
    """A game day, as its file says it."""

    cluster: Annotated[str, Field(min_length=1, description="an inventory's name or path")]
    experiments: Annotated[tuple[Step, ...], Field(min_length=1)]
    order: Annotated[Literal["as written", "random"], Field(description="of the experiments")] = (
        "as written"
    )
    seed: Annotated[
        int, Field(ge=0, lt=2**31, description="of a random order; 0 draws one and says it")
    ] = 0
    cool_down: CoolDown = CoolDown()
    stop_on: StopOn = StopOn()
    abort_if: Annotated[
        Conditions,
        Field(description="watched all the time, also between experiments"),
    ] = ()
    safeguards: Annotated[
        tuple[dict[str, Any], ...], Field(description="probes for chaostoolkit-addons")
    ] = ()
    window: WindowSpec = WindowSpec()
    freeze: tuple[Freeze, ...] = ()
    schedule: Schedule | None = None
    notify: tuple[Notify, ...] = ()
    on_call: Annotated[str, Field(description="who acts on messages: a team, a person")] = ""
    reports: Annotated[
        str,
        Field(pattern=r"^(https?://[^@\s]+)?$", description="URL under which the runs are served"),
    ] = ""
    freshness: Annotated[
        Span, Field(description="a pass that is older is stale")
    ] = timedelta(days=30)  # fmt: skip

    @field_validator("experiments", mode="before")
    @classmethod
    def _by_name(cls, value: Any) -> Any:
        if not isinstance(value, list | tuple):
            return value
        return [{"experiment": item} if isinstance(item, str) else item for item in value]

    @field_validator("experiments")
    @classmethod
    def _are_distinct(cls, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        twice = [name for name, n in Counter(step.called for step in steps).items() if n > 1]
        if twice:
            raise ValueError(f"{', '.join(twice)}: there twice, wanted a `name` for each")
        return steps
