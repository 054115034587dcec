"""The parts of a workload file as models: data set, key choice, streams, lanes.

Only shapes and ranges of single settings are here. What two settings mean for each other is
checked in `checks`, so that every error of a file is found in one pass.
"""

from typing import Annotated, Any, Literal, get_args

from pydantic import (
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from brownout.load.workload_base import Settings
from brownout.load.workload_models import Play, Reader, Vote, implied_mix

__all__ = [
    "OPERATIONS",
    "PERCENTILES",
    "SCOPES",
    "Data",
    "DataSet",
    "Gaussian",
    "HotSet",
    "Keys",
    "Lanes",
    "Operation",
    "Percentile",
    "Records",
    "Scope",
    "Sla",
    "Stream",
    "Uniform",
    "Zipf",
]

Operation = Literal["read", "update", "insert", "increment", "operate", "batch", "vote"]
OPERATIONS: tuple[Operation, ...] = get_args(Operation)

#: What a limit of an SLA is for: all reads, all writes, all of a stream, or one operation.
Scope = Literal[
    "total", "read", "write", "update", "insert", "increment", "operate", "batch", "vote"
]
SCOPES: tuple[Scope, ...] = get_args(Scope)
Percentile = Literal["p50_ms", "p90_ms", "p95_ms", "p99_ms", "p999_ms", "p9999_ms", "max_ms"]
PERCENTILES: tuple[Percentile, ...] = get_args(Percentile)

_Milliseconds = Annotated[float, Field(gt=0, le=600_000)]
#: Of one stream: `{"read": {"p999_ms": 1}, "write": {"p999_ms": 2}}`, in ms of response time.
Sla = Annotated[
    dict[Scope, Annotated[dict[Percentile, _Milliseconds], Field(min_length=1)]],
    Field(min_length=1),
]


class Uniform(Settings):
    """Every key is as likely as any other."""

    distribution: Literal["uniform"] = "uniform"


class Zipf(Settings):
    """A few keys get most of the load: the key of rank n is chosen in proportion to 1 / n^theta."""

    distribution: Literal["zipf"]
    theta: Annotated[float, Field(gt=0, le=20, description="skew; more is steeper")] = 0.99


class Gaussian(Settings):
    """A normal distribution around the middle of the key range."""

    distribution: Literal["gaussian"]
    sigma: Annotated[
        float, Field(gt=0, le=1, description="standard deviation as a share of the key range")
    ] = 0.07


class HotSet(Settings):
    """A share of the operations goes to a share of the keys, evenly within each part."""

    distribution: Literal["hot-set"]
    hot_share: Annotated[
        float, Field(gt=0, lt=1, description="share of the operations that go to hot keys")
    ] = 0.9
    hot_keys: Annotated[float, Field(gt=0, lt=1, description="share of the keys that are hot")] = (
        0.1
    )


Keys = Annotated[Uniform | Zipf | Gaussian | HotSet, Field(discriminator="distribution")]


_Size = Annotated[int, Field(ge=0, le=16 * 2**20)]


def _size_or_sizes(value: Any, accept: ValidatorFunctionWrapHandler) -> Any:
    """Say in one sentence what a union would say once a branch."""
    try:
        return accept(value)
    except ValidationError as error:
        raise PydanticCustomError(
            "value_bytes", "wanted a size from 0 to 16,777,216 bytes, or a list of 1 to 64 of them"
        ) from error


class Records(Settings):
    """How many records a data set has, and what their values are like."""

    keys: Annotated[int, Field(ge=1, le=10**10, description="number of records")] = 20_000
    value_bytes: Annotated[
        _Size | Annotated[tuple[_Size, ...], Field(strict=False, min_length=1, max_length=64)],
        WrapValidator(_size_or_sizes),
        Field(description="size of each value; a list: as many keys of each"),
    ] = 256
    fields: Annotated[
        int, Field(ge=1, le=100, description="that each value is stored as (bins)")
    ] = 1
    compress_to: Annotated[
        float, Field(ge=0.01, le=1, description="what a good compressor leaves of a value")
    ] = 1.0

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the values: key number k has the one at k modulo their number."""
        return self.value_bytes if isinstance(self.value_bytes, tuple) else (self.value_bytes,)


class DataSet(Records):
    """One of several data sets."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,31}$")]


class Data(Records):
    """The records that exist before the load starts."""

    sets: Annotated[
        tuple[DataSet, ...],
        Field(strict=False, max_length=16, description="several data sets, in place of the one"),
    ] = ()
    load: Annotated[bool, Field(description="write the data set first")] = True
    load_concurrency: Annotated[
        int, Field(ge=1, le=1024, description="batches in flight while loading")
    ] = 16

    @property
    def all_sets(self) -> tuple[Records, ...]:
        """Every data set; there is always one."""
        return self.sets or (self,)


class Stream(Settings):
    """One kind of traffic: what it does, on which keys, how fast, and how long it waits."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,31}$")]
    set: Annotated[str, Field(description="the data set it works on; unset: the first")] = ""
    mix: Annotated[
        dict[Operation, Annotated[float, Field(gt=0)]],
        Field(
            default_factory=dict,
            min_length=1,
            description="operation -> percent (adding up to 100) or share (to 1)",
        ),
    ]
    batch_keys: Annotated[int, Field(ge=1, le=5000, description="records of each batch")] = 10
    keys: Keys = Uniform()
    vote: Vote | None = None
    play: Play | None = None
    reader: Reader | None = None
    rate: Annotated[
        float, Field(gt=0, le=1_000_000, description="open loop: operations per second")
    ] = 0.0
    arrivals: Annotated[
        Literal["constant", "poisson"], Field(description="open loop: spacing of the operations")
    ] = "constant"
    concurrency: Annotated[
        int, Field(ge=1, le=100_000, description="closed loop: workers that wait for each other")
    ] = 0
    deadline_s: Annotated[
        float, Field(ge=0.001, le=600, description="seconds from the intended start")
    ] = 1.0
    retries: Annotated[
        Literal["none", "once", "driver-default"], Field(description="who retries, if anyone")
    ] = "none"
    verified: Annotated[bool, Field(description="keep a ledger of acknowledged writes")] = False
    ledger_keys: Annotated[
        int, Field(ge=1, le=10_000_000, description="keys of the ledger; verified streams only")
    ] = 0

    @model_validator(mode="before")
    @classmethod
    def _mix_of_model(cls, raw: Any) -> Any:
        """A stream with a model has the mix that follows from it."""
        implied = implied_mix(raw) if isinstance(raw, dict) else None
        return {"mix": implied, **raw} if implied else raw

    @property
    def loop(self) -> Literal["open", "closed"]:
        """`open` if the schedule sets the pace, `closed` if the database does."""
        return "open" if self.rate else "closed"

    def shares(self) -> dict[str, float]:
        """Return the mix as shares that add up to one, e.g. `{"read": 0.7, "update": 0.3}`."""
        total = sum(self.mix.values())
        return {op: weight / total for op, weight in self.mix.items()}


class Lanes(Settings):
    """How many operations may be in flight at once, per failure domain."""

    cap: Annotated[
        int, Field(ge=0, le=100_000, description="per lane; 0 is the driver's pool per server")
    ] = 0
    global_cap: Annotated[
        int,
        Field(ge=0, le=100_000, description="over all lanes instead; 0 is none, as is right"),
    ] = 0
