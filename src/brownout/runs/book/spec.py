"""A book as its YAML file says it: engines, faults, loads, and how often each is run."""

from collections import Counter
from collections.abc import Collection
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from brownout.base.errors import ConfigurationError
from brownout.base.settings import Settings
from brownout.runs.series_file import SeriesFile

__all__ = ["Book", "CapacitySearch", "Engine", "Fault", "Published", "PublishedRow"]

Changes = Annotated[
    dict[str, Any], Field(description="single settings of the workload, as `streams.a.rate`")
]


class Engine(Settings):
    """One database with its settings, on one cluster."""

    name: Annotated[str, Field(min_length=1, description="what the book calls it")]
    cluster: Annotated[str, Field(min_length=1, description="an inventory's name or path")]
    load: Changes = Field(default_factory=dict)
    variables: Annotated[
        dict[str, Any], Field(description="of its runs, as `chaos run --var` sets them")
    ] = Field(default_factory=dict)
    without: Annotated[
        dict[str, str], Field(description="faults that are not run on it, each with the reason")
    ] = Field(default_factory=dict)


class Fault(Settings):
    """One fault: an experiment with its variables."""

    name: Annotated[str, Field(min_length=1, description="what the book calls it")]
    experiment: Annotated[str, Field(min_length=1, description="a shipped one, or a file")]
    variables: Annotated[
        dict[str, Any], Field(description="as `chaos run --var` sets them; never the cluster")
    ] = Field(default_factory=dict)
    takes_s: Annotated[float, Field(gt=0, description="about how long, until one was run")] = 120


class CapacitySearch(Settings):
    """How the capacity of each cluster is searched: the options of `brownout capacity`."""

    sla: Annotated[tuple[str, ...], Field(description="as `orders.write.p99=100ms`")] = ()
    start: Annotated[float, Field(ge=0, description="first rate; 0: the workload's")] = 0
    max: Annotated[float, Field(ge=0, description="never offer more; 0: no ceiling")] = 0
    precision: Annotated[float, Field(ge=0.001, le=0.5)] = 0.05
    step_s: Annotated[float, Field(ge=2)] = 10
    confirm_s: Annotated[float, Field(ge=2)] = 30
    settle_s: Annotated[float, Field(ge=0)] = 5
    again: Annotated[int, Field(ge=0, le=9)] = 1

    @property
    def takes_s(self) -> float:
        """About how long a search takes: some ten steps and the long run."""
        return 10 * (self.step_s + self.settle_s) + self.confirm_s + self.settle_s


class PublishedRow(Settings):
    """What another author published about one system, in the words of the source."""

    system: str
    version: str
    down: str
    partial: str
    disturbance: str
    down_return: str
    partial_return: str
    recovery: str


class Published(Settings):
    """A table by another author, with its source and how it was measured."""

    source: str
    year: int
    how: str
    rows: Annotated[tuple[PublishedRow, ...], Field(min_length=1)]


class Book(SeriesFile):
    """A book, as its file says it."""

    schema_version: Literal[1] = 1
    workload: Annotated[str, Field(min_length=1, description="the same for every engine")]
    load: Changes = Field(default_factory=dict)
    variables: Annotated[dict[str, Any], Field(description="of every run")] = Field(
        default_factory=dict
    )
    capacity: CapacitySearch = CapacitySearch()
    shares: Annotated[
        tuple[Annotated[float, Field(gt=0, le=1)], ...],
        Field(min_length=1, description="loads, as shares of each cluster's capacity"),
    ]
    repeats: Annotated[int, Field(ge=1, le=100, description="runs of each cell")] = 5
    again: Annotated[
        int, Field(ge=0, le=100, description="further runs of a cell for those not judged")
    ] = 3
    seed: Annotated[int, Field(ge=1, lt=2**20, description="of the seeds of all runs")] = 1
    engines: Annotated[tuple[Engine, ...], Field(min_length=1)]
    faults: Annotated[tuple[Fault, ...], Field(min_length=1)]
    published: Annotated[
        tuple[str, ...], Field(description="files beside this one with tables of others")
    ] = ()

    @field_validator("engines", "faults")
    @classmethod
    def _are_distinct(cls, parts: tuple[Any, ...]) -> tuple[Any, ...]:
        twice = [name for name, n in Counter(part.name for part in parts).items() if n > 1]
        if twice:
            raise ValueError(f"{', '.join(twice)}: there twice, wanted another `name` for each")
        return parts

    @field_validator("shares")
    @classmethod
    def _are_different(cls, shares: tuple[float, ...]) -> tuple[float, ...]:
        if len(set(shares)) < len(shares):
            raise ValueError("found a share twice, wanted each once")
        return shares

    def only(self, engines: Collection[str], faults: Collection[str]) -> "Book":
        """Return the part of the book with these engines and faults; without names, with all.

        Raises `ConfigurationError`, of all names at once, for those that are not in the book.
        """
        asked = [
            ("engine", engines, [each.name for each in self.engines]),
            ("fault", faults, [each.name for each in self.faults]),
        ]
        unknown = [
            f"{kind}: found `{name}`, wanted one of {', '.join(f'`{each}`' for each in there)}"
            for kind, names, there in asked
            for name in names
            if name not in there
        ]
        if unknown:
            raise ConfigurationError(unknown)
        return self.model_copy(
            update={
                "engines": tuple(e for e in self.engines if not engines or e.name in engines),
                "faults": tuple(f for f in self.faults if not faults or f.name in faults),
            }
        )
