"""The parts of a workload file as models: data set, key choice, streams, lanes."""

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from brownout.base.problems import Problem
from brownout.base.settings import StrictSettings
from brownout.load.workload_base import Settings, Unsound, check
from brownout.load.workload_http import Endpoint
from brownout.load.workload_models import Play, Reader, Vote

__all__ = [
    "MOST_PER_S",
    "OPERATIONS",
    "PERCENTILES",
    "READS",
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
    "repeated",
]

#: Operations a second that a stream may have.
MOST_PER_S = 1_000_000
#: Registers of a stream whose history is checked, and operations a second on them.
_MOST_REGISTERS = 1000
_MOST_TO_REGISTERS_PER_S = 1000

Operation = Literal["read", "update", "insert", "increment", "operate", "batch", "vote"]
OPERATIONS: tuple[Operation, ...] = get_args(Operation)
#: The operations that count as reads; all others are writes.
READS = frozenset({"read", "batch"})

#: What a limit of an SLA is for: all reads, all writes, all of a stream, or one operation.
Scope = Literal[
    "total", "read", "write", "update", "insert", "increment", "operate", "batch", "vote"
]
Percentile = Literal["p50_ms", "p90_ms", "p95_ms", "p99_ms", "p999_ms", "p9999_ms", "max_ms"]
PERCENTILES: tuple[Percentile, ...] = get_args(Percentile)
#: The scopes that every measure has; a stream of that name would hide one.
_RESERVED = ("total", "read", "write")
#: What of a stream is a model of its own, in place of a mix.
_MODELS = ("vote", "play", "reader")
#: What a mix adds up to.
_WHOLES = (100, 1)

_Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,31}$")]
_Milliseconds = Annotated[float, Field(gt=0, le=600_000)]
#: Of one stream: `{"read": {"p999_ms": 1}, "write": {"p999_ms": 2}}`, in ms of response time.
Sla = Annotated[
    dict[Scope, Annotated[dict[Percentile, _Milliseconds], Field(min_length=1)]],
    Field(min_length=1),
]


class Uniform(StrictSettings):
    """Every key is as likely as any other."""

    distribution: Annotated[
        Literal["uniform"], Field(description="which keys are used how often")
    ] = "uniform"


class Zipf(StrictSettings):
    """A few keys get most of the load: the key of rank n is chosen in proportion to 1 / n^theta."""

    distribution: Annotated[Literal["zipf"], Field(description="which keys are used how often")]
    theta: Annotated[
        float, Field(gt=0, le=20, description="skew, without a unit; more is steeper")
    ] = 0.99


class Gaussian(StrictSettings):
    """A normal distribution around the middle of the key range."""

    distribution: Annotated[Literal["gaussian"], Field(description="which keys are used how often")]
    sigma: Annotated[
        float, Field(gt=0, le=1, description="standard deviation as a share of the key range, of 1")
    ] = 0.07


class HotSet(StrictSettings):
    """A share of the operations goes to a share of the keys, evenly within each part."""

    distribution: Annotated[Literal["hot-set"], Field(description="which keys are used how often")]
    hot_share: Annotated[
        float, Field(gt=0, lt=1, description="share of the operations that go to hot keys, of 1")
    ] = 0.9
    hot_keys: Annotated[
        float, Field(gt=0, lt=1, description="share of the keys that are hot, of 1")
    ] = 0.1


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
        Field(description="bytes of each value; a list: as many keys of each size"),
    ] = 256
    fields: Annotated[
        int, Field(ge=1, le=100, description="number of fields (bins) that a value is stored as")
    ] = 1
    compress_to: Annotated[
        float,
        Field(ge=0.01, le=1, description="share of a value that a good compressor leaves, of 1"),
    ] = 1.0

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the values: key number k has the one at k modulo their number."""
        return self.value_bytes if isinstance(self.value_bytes, tuple) else (self.value_bytes,)

    @check
    def _fields(self) -> Iterator[Problem]:
        """Every field of a value has a byte at least."""
        least = max(1, min(self.sizes))
        if self.fields > least:
            text = f"found {self.fields} fields of values of {least} bytes, wanted {least} at most"
            yield Problem(("fields",), text)


class DataSet(Records):
    """One of several data sets."""

    name: Annotated[_Name, Field(description="what streams call it")]


class Data(Records):
    """The records that exist before the load starts."""

    sets: Annotated[
        tuple[DataSet, ...],
        Field(strict=False, max_length=16, description="several data sets, in place of the one"),
    ] = ()
    load: Annotated[bool, Field(description="write the data set before the load")] = True
    load_concurrency: Annotated[
        int, Field(ge=1, le=1024, description="number of batches in flight while loading")
    ] = 16

    @property
    def all_sets(self) -> tuple[Records, ...]:
        """Every data set; there is always one."""
        return self.sets or (self,)

    @check
    def _sets(self) -> Iterator[Problem]:
        """Several data sets stand in place of the one, and each has a name."""
        for setting in sorted(self.model_fields_set & set(Records.model_fields)):
            if self.sets:
                yield Problem((setting,), "found beside sets, wanted it in each of the sets")
        yield from repeated(self.sets, "sets")


def repeated(parts: "Sequence[DataSet | Stream]", setting: str) -> Iterator[Problem]:
    """Yield each name of `parts`, which are a list under `setting`, that was there before."""
    seen = set()
    for index, part in enumerate(parts):
        with suppress(Unsound):
            if part.name in seen:
                place = (setting, index, "name")
                yield Problem(place, f"found {part.name!r} again, wanted a name of its own")
            seen.add(part.name)


class Client(Settings):
    """A program that does a stream's operations in place of the driver (docs/client.md)."""

    command: Annotated[
        tuple[str, ...],
        Field(strict=False, min_length=1, description="the program and its arguments"),
    ]
    options: dict[str, Any] = Field(
        default_factory=dict, description="what the program alone understands"
    )
    write_once: Annotated[
        bool, Field(description="it has no conditional writes: each write has a key of its own")
    ] = False


class Stream(Settings):
    """One kind of traffic: what it does, on which keys, how fast, and how long it waits."""

    name: Annotated[_Name, Field(description="what measures and other streams call it")]
    set: Annotated[str, Field(description="the data set it works on; unset: the first")] = ""
    mix: Annotated[
        dict[Operation, Annotated[float, Field(gt=0)]],
        Field(
            default_factory=dict,
            min_length=1,
            description="operation -> percent (adding up to 100) or share (to 1)",
        ),
    ]
    batch_keys: Annotated[
        int, Field(ge=1, le=5000, description="number of records that each batch reads")
    ] = 10
    keys: Annotated[Keys, Field(description="which keys are used how often")] = Uniform()
    vote: Annotated[Vote | None, Field(description="votes, in place of a mix")] = None
    play: Annotated[Play | None, Field(description="players of games, in place of a mix")] = None
    reader: Annotated[Reader | None, Field(description="who reads these, in place of a mix")] = None
    client: Annotated[
        Client | None,
        Field(description="a program that does its operations in place of the driver"),
    ] = None
    http: Annotated[
        Endpoint | None,
        Field(description="an HTTP endpoint of the application, called in place of the database"),
    ] = None
    rate: Annotated[
        float, Field(gt=0, le=MOST_PER_S, description="open loop: operations per second")
    ] = 0.0
    arrivals: Annotated[
        Literal["constant", "poisson"], Field(description="open loop: spacing of the operations")
    ] = "constant"
    concurrency: Annotated[
        int,
        Field(ge=1, le=100_000, description="closed loop: number of workers, each of which waits"),
    ] = 0
    deadline_s: Annotated[
        float, Field(ge=0.001, le=600, description="seconds from the intended start")
    ] = 1.0
    retries: Annotated[
        Literal["none", "once", "driver-default"], Field(description="who retries, if anyone")
    ] = "none"
    verified: Annotated[bool, Field(description="keep a ledger of acknowledged writes")] = False
    ledger_keys: Annotated[
        int,
        Field(ge=1, le=10_000_000, description="number of the ledger's keys, if it is verified"),
    ] = 0

    reads: Annotated[
        Literal["", "linearizable", "session", "eventual"],
        Field(description="what reads of a verified stream are to see; unset: as the driver gives"),
    ] = ""

    linearizable: Annotated[
        bool, Field(description="check that every register of a verified stream is linearizable")
    ] = False

    def settle(self) -> None:
        """A stream with a model has the mix that follows from it."""
        if self.models and "mix" not in self.model_fields_set:
            self.__dict__["mix"] = self.model_mix

    @property
    def models(self) -> tuple[str, ...]:
        """Which models the stream has; one that is right has one, or a mix."""
        return tuple(name for name in _MODELS if getattr(self, name) is not None)

    @property
    def model_mix(self) -> dict[str, float]:
        """The mix that follows from the stream's model; empty without one."""
        return getattr(self, self.models[0]).mix if self.models else {}

    @property
    def paced(self) -> bool:
        """Whether the stream says by itself how fast it is."""
        return bool({"rate", "concurrency"} & self.model_fields_set)

    @property
    def loop(self) -> Literal["open", "closed"]:
        """`open` if the schedule sets the pace, `closed` if the database does."""
        return "open" if self.rate else "closed"

    def shares(self) -> dict[str, float]:
        """Return the mix as shares that add up to one, e.g. `{"read": 0.7, "update": 0.3}`."""
        total = sum(self.mix.values())
        return {op: weight / total for op, weight in self.mix.items()}

    @check
    def _named(self) -> Iterator[Problem]:
        if self.name in _RESERVED:
            text = f"found {self.name!r}; {', '.join(_RESERVED)} are the names of scopes"
            yield Problem(("name",), text)

    @check
    def _pace(self) -> Iterator[Problem]:
        """Open loop (`rate`) or closed loop (`concurrency`), never both; a reader follows."""
        stated = self.model_fields_set
        if {"rate", "concurrency"} <= stated:
            yield Problem(("concurrency",), "found beside rate, wanted one of rate, concurrency")
        if "concurrency" in stated and "arrivals" in stated and "rate" not in stated:
            yield Problem(("arrivals",), "found without rate; a closed loop has no schedule")
        if not self.paced and "reader" not in stated:
            yield Problem((), "no pace, wanted one of rate (open loop), concurrency (closed loop)")

    @check
    def _follows(self) -> Iterator[Problem]:
        """The pace of a reader is its own, or follows from one of two settings."""
        if self.reader is not None:
            stated = [self.reader.ratio, self.reader.users_per_s]
            given = 2 - stated.count(None)
            if given == 2 or (not given and not self.paced):
                text = f"found {'both' if given else 'neither'} of ratio and users_per_s"
                yield Problem(("reader",), f"{text}, wanted one of them")

    @check
    def _ledger(self) -> Iterator[Problem]:
        """`ledger_keys` and `verified` need each other."""
        stated = "ledger_keys" in self.model_fields_set
        if stated and not self.verified:
            yield Problem(("ledger_keys",), "found without verified: true; remove it or verify")
        if stated and self.verified and self.models:
            yield Problem(("ledger_keys",), "found beside a model, from which the keys follow")
        if not stated and self.verified and not self.models:
            yield Problem(("ledger_keys",), "missing; a verified stream says how many keys it has")

    @check
    def _reads(self) -> Iterator[Problem]:
        """Only reads of single verified keys can be held against what was acknowledged."""
        if self.reads and (not self.verified or self.models or "read" not in self.mix):
            text = "found without verified: true and read in the mix, wanted both"
            yield Problem(("reads",), text)

    @check
    def _linearizable(self) -> Iterator[Problem]:
        """A history is kept of few registers, which are read and written, and not too fast."""
        if not self.linearizable:
            return
        if not self.verified or self.models or set(self.mix) != {"read", "update"}:
            text = "found without verified: true and a mix of read and update, wanted both"
            yield Problem(("linearizable",), text)
        beside = "beside linearizable: true, wanted"
        if self.reads not in ("", "linearizable"):
            yield Problem(("reads",), f"found {self.reads} {beside} linearizable")
        if self.ledger_keys > _MOST_REGISTERS:
            text = f"found {self.ledger_keys:,} {beside} {_MOST_REGISTERS:,} at most"
            yield Problem(("ledger_keys",), text)
        if not 0 < self.rate <= _MOST_TO_REGISTERS_PER_S:
            text = f"found {self.rate:g} {beside} a rate of {_MOST_TO_REGISTERS_PER_S:,} at most"
            yield Problem(("rate",), text)

    @check
    def _client(self) -> Iterator[Problem]:
        """A client reads and writes verified keys, and does nothing else."""
        if self.client is None:
            return
        if not self.verified or self.models:
            yield Problem(("client",), "found without verified: true and a mix, wanted both")
        if others := sorted(set(self.mix) - {"read", "update"}):
            text = f"found {', '.join(others)}; a client does read and update"
            yield Problem(("mix",), text)

    @check
    def _http(self) -> Iterator[Problem]:
        """An endpoint is read and updated, once each time, and what it stores is its own."""
        if self.http is None:
            return
        if self.client is not None:
            yield Problem(("http",), "found beside client, wanted one of them")
        if self.models:
            yield Problem(("http",), f"found beside {self.models[0]}, wanted a mix")
        if self.verified:
            yield Problem(("verified",), "found beside http, which has no ledger: wanted false")
        if self.retries != "none":
            yield Problem(("retries",), f"found {self.retries} beside http, wanted none")
        yield from self.http.misfits(self.mix)

    @check
    def _verified_mix(self) -> Iterator[Problem]:
        """A ledger's keys are there from the start, and something has to be written to them."""
        if not self.verified or self.models or not self.mix:
            return
        if "insert" in self.mix:
            yield Problem(("mix", "insert"), "a verified stream has fixed keys, wanted update")
        elif not {"update", "increment", "operate"} & set(self.mix):
            wanted = "update, operate or increment"
            yield Problem(("mix",), f"a verified stream without writes, wanted {wanted}")

    @check
    def _mix_sum(self) -> Iterator[Problem]:
        """Percent add up to 100, shares to 1: what does not is a slip of the pen."""
        total = sum(self.mix.values())
        if self.mix and not any(math.isclose(total, whole, rel_tol=1e-6) for whole in _WHOLES):
            yield Problem(("mix",), f"adds up to {total:g}, wanted 100 (percent), or 1 (shares)")

    @check
    def _model(self) -> Iterator[Problem]:
        """A model stands alone: without a mix, keys, a data set, or a second model."""
        first, *others = self.models or ("",)
        if not first:
            if "mix" not in self.model_fields_set:
                wanted = ", ".join(_MODELS)
                yield Problem(("mix",), f"missing, wanted a mix, or one of {wanted}")
            if "vote" in self.mix:
                text = "found without vote: {…}, which says what is voted for"
                yield Problem(("mix", "vote"), text)
            return
        if others:
            yield Problem((others[0],), f"found beside {first}, wanted one of them")
        if self.mix != self.model_mix:
            yield Problem(("mix",), f"found beside {first}, from which the operations follow")
        if self.set:
            yield Problem(("set",), f"found beside {first}, which has records of its own")
        if self.retries == "once" and "vote" in self.models:
            yield Problem(("retries",), "found once; a vote is never done again: wanted none")


class Lanes(Settings):
    """How many operations may be in flight at once, per failure domain."""

    cap: Annotated[
        int,
        Field(ge=0, le=100_000, description="number of operations per lane; 0: the driver's pool"),
    ] = 0
    global_cap: Annotated[
        int,
        Field(
            ge=0, le=100_000, description="number of operations over all lanes; 0 means no such cap"
        ),
    ] = 0
