"""A comparison of clients as its YAML file says it: a fault, and the clients that meet it."""

from collections import Counter
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from brownout.base.settings import Settings
from brownout.runs.series_file import SeriesFile

__all__ = ["DRIVER", "Comparison", "Row"]

#: The stream of the built-in driver in every run.
DRIVER = "driver"
_TAKEN = (DRIVER, "total", "read", "write")

Rate = Annotated[float, Field(gt=0, le=1_000_000, description="operations a second")]


class Row(Settings):
    """One client with its settings: one stream of the workload."""

    name: Annotated[
        str, Field(pattern=r"^[a-z][a-z0-9-]{0,31}$", description="what the page calls it")
    ]
    command: Annotated[
        tuple[Annotated[str, Field(min_length=1)], ...],
        Field(min_length=1, description="the program and its arguments (docs/client.md)"),
    ]
    options: Annotated[
        dict[str, Any], Field(description="what the program alone understands: its pool's settings")
    ] = Field(default_factory=dict)
    rate: Annotated[Rate | None, Field(description="unset: that of the file")] = None


class Comparison(SeriesFile):
    """A comparison of clients, as its file says it."""

    schema_version: Literal[1] = 1
    cluster: Annotated[str, Field(min_length=1, description="an inventory's name or path")]
    experiment: Annotated[str, Field(min_length=1, description="a shipped one, or a file")]
    variables: Annotated[
        dict[str, Any], Field(description="of its runs, as `chaos run --var` sets them")
    ] = Field(default_factory=dict)
    repeats: Annotated[int, Field(ge=1, le=100, description="runs that count, of each client")] = 3
    again: Annotated[int, Field(ge=0, le=100, description="further runs for those not judged")] = 2
    seed: Annotated[int, Field(ge=1, lt=2**20, description="of the seeds of all runs")] = 1
    together: Annotated[
        bool,
        Field(description="all clients in one run, which meet the same fault; else each alone"),
    ] = True
    rate: Annotated[Rate, Field(description="of each client")] = 20
    driver_rate: Annotated[Rate, Field(description="of the built-in driver beside them")] = 50
    deadline_s: Annotated[float, Field(gt=0, le=600, description="of every operation")] = 1
    takes_s: Annotated[float, Field(gt=0, description="about how long a run takes")] = 120
    clients: Annotated[
        tuple[Row, ...], Field(min_length=1, max_length=63, description="the rows of the page")
    ]

    @field_validator("clients")
    @classmethod
    def _have_names_of_their_own(cls, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        names = Counter(row.name for row in rows)
        if taken := sorted(set(names) & set(_TAKEN)):
            raise ValueError(f"{', '.join(taken)}: is the name of a scope, wanted another `name`")
        if twice := [name for name, n in names.items() if n > 1]:
            raise ValueError(f"{', '.join(twice)}: there twice, wanted another `name` for each")
        return rows

    @property
    def groups(self) -> dict[str, tuple[Row, ...]]:
        """The clients that share a run, by the name of their workload."""
        if self.together:
            return {"together": self.clients}
        return {row.name: (row,) for row in self.clients}
