"""The parts of a workload file as models: data set, key choice, streams, lanes.

Only shapes and ranges of single settings are here. What two settings mean for each other is
checked in `checks`, so that every error of a file is found in one pass.
"""

from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "OPERATIONS",
    "Data",
    "Gaussian",
    "HotSet",
    "Keys",
    "Lanes",
    "Operation",
    "Settings",
    "Stream",
    "Uniform",
    "Zipf",
]

Operation = Literal["read", "update", "insert", "increment", "operate", "batch"]
OPERATIONS: tuple[Operation, ...] = get_args(Operation)


class Settings(BaseModel):
    """Base of every part: unknown settings and wrong types are errors, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


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


class Data(Settings):
    """The records that exist before the load starts."""

    keys: Annotated[int, Field(ge=1, le=10**10, description="number of records")] = 20_000
    value_bytes: Annotated[int, Field(ge=0, le=8 * 2**20, description="size of each value")] = 256
    load: Annotated[bool, Field(description="write the data set first")] = True
    load_concurrency: Annotated[
        int, Field(ge=1, le=1024, description="batches in flight while loading")
    ] = 16


class Stream(Settings):
    """One kind of traffic: what it does, on which keys, how fast, and how long it waits."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,31}$")]
    mix: Annotated[
        dict[Operation, Annotated[float, Field(gt=0)]],
        Field(min_length=1, description="operation -> weight; percent or any other weights"),
    ]
    batch_keys: Annotated[int, Field(ge=1, le=5000, description="records of each batch")] = 10
    keys: Keys = Uniform()
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
