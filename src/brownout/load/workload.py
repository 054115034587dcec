"""A workload: what is normal for a test, read from YAML and checked before anything starts.

    title: a read stream and a verified write stream
    data: {keys: 20000, value_bytes: 256}
    streams:
      - {name: lookups, mix: {read: 100}, rate: 500}
      - {name: orders, mix: {update: 100}, rate: 300, verified: true, ledger_keys: 4000}

`docs/workloads.md` explains every setting. A workload holds no secret and names no cluster.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr

from brownout.base import catalog
from brownout.base.errors import ConfigurationError
from brownout.base.files import is_file
from brownout.base.problems import Problem
from brownout.base.settings_file import apply_overrides, parse_overrides, parse_yaml, read_text
from brownout.load.options import DriverOptions
from brownout.load.spec import build
from brownout.load.workload_base import Settings, Unsound, check, examined
from brownout.load.workload_fields import (
    MOST_PER_S,
    READS,
    Data,
    HotSet,
    Lanes,
    Sla,
    Stream,
    repeated,
)

__all__ = ["Workload", "load", "names", "parse", "split_variant", "text_of", "variants"]

#: Where a name is looked for before the shipped ones.
_HERE = Path("steady-state", "workloads")

_MOST_STREAMS = 64


class Workload(Settings):
    """A workload that is right as a whole. Make one with `load` or `parse`, which have its name."""

    title: Annotated[str, Field(description="one line for reports")] = ""
    seed: Annotated[
        int | None,
        Field(
            ge=0, lt=2**63, description="number that decides keys and arrivals; unset: the run's"
        ),
    ] = None
    namespace: Annotated[
        str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,37}$", description="database or key prefix")
    ] = "brownout"
    data: Annotated[Data, Field(description="the records that exist before the load")] = Data()
    streams: Annotated[
        tuple[Stream, ...],
        Field(
            strict=False,
            description="kinds of traffic, side by side",
            json_schema_extra={"minItems": 1, "maxItems": _MOST_STREAMS},
        ),
    ]
    variants: Annotated[
        dict[Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,31}$")], dict[str, Any]],
        Field(default_factory=dict, description="name -> changes by path: `workload:name`"),
    ]
    sla: Annotated[
        dict[str, Sla],
        Field(default_factory=dict, description="stream -> what it does -> percentile -> ms"),
    ]
    lanes: Annotated[Lanes, Field(description="how much may be in flight")] = Lanes()
    options: Annotated[
        DriverOptions, Field(description="policies of the driver, one entry a database")
    ] = DriverOptions()
    _name: str = PrivateAttr("")

    def settle(self) -> None:
        """Give each reader the rate that follows from its settings, unless it states a pace."""
        self.__dict__["streams"] = tuple(self._at_its_rate(stream) for stream in self.streams)

    def _at_its_rate(self, stream: Stream) -> Stream:
        with suppress(Unsound):
            if stream.reader is not None and not stream.paced:
                writer = self.stream(stream.reader.of)
                rate = stream.reader.rate_beside(writer.rate if writer else 0.0)
                return stream.model_copy(update={"rate": rate}) if rate else stream
        return stream

    def stream(self, name: str) -> Stream | None:
        """Return the stream of that name; None if there is none."""
        return next((stream for stream in self.streams if stream.sound("name") == name), None)

    @property
    def name(self) -> str:
        """What the workload goes by: the name of its file. It is not a setting."""
        return self._name

    @property
    def loop(self) -> Literal["open", "closed", "mixed"]:
        """Who sets the pace: the schedule, the database, or both, in different streams."""
        loops = {stream.loop for stream in self.streams}
        return loops.pop() if len(loops) == 1 else "mixed"

    @property
    def rate(self) -> float:
        """Operations per second that all open-loop streams offer together."""
        return sum(stream.rate for stream in self.streams)

    @property
    def deadlines_s(self) -> tuple[float, ...]:
        """The deadlines in use, shortest first."""
        return tuple(sorted({stream.deadline_s for stream in self.streams}))

    def summary(self) -> str:
        """Return the header's words, e.g. `lab 800/s open loop, deadline 1 s`."""
        pace = []
        if self.rate:
            pace.append(f"{self.rate:g}/s open loop")
        workers = sum(stream.concurrency for stream in self.streams)
        if workers:
            pace.append(f"{workers} workers closed loop")
        deadlines = " and ".join(f"{deadline:g} s" for deadline in self.deadlines_s)
        return f"{self.name} {', '.join(pace)}, deadline {deadlines}".strip()

    #: Returns the generator's specification.
    to_spec = build

    def public(self) -> dict[str, Any]:
        """Return the resolved workload for `run.json`; there is no secret in it."""
        settings = self.model_dump(mode="json", exclude_none=True, exclude={"variants"})
        return {"name": self.name, **settings}

    @check
    def _streams(self) -> Iterator[Problem]:
        if not 1 <= len(self.streams) <= _MOST_STREAMS:
            text = f"found {len(self.streams)}, wanted 1 to {_MOST_STREAMS}"
            yield Problem(("streams",), text)
        yield from repeated(self.streams, "streams")

    @check
    def _each_stream(self) -> Iterator[Problem]:
        """A stream fits the data set that it is on, and the streams beside it."""
        for index, stream in enumerate(self.streams):
            for one in (self._set_of, self._hot_keys, self._players):
                with suppress(Unsound):
                    for problem in one(stream):
                        yield Problem(("streams", index, *problem.place), problem.text)

    def _set_of(self, stream: Stream) -> Iterator[Problem]:
        names = [each.name for each in self.data.sets]
        if stream.set and stream.set not in names:
            wanted = f"one of {', '.join(names)}" if names else "no set: there is one"
            yield Problem(("set",), f"found {stream.set!r}, wanted {wanted}")

    def _hot_keys(self, stream: Stream) -> Iterator[Problem]:
        """A share of the keys that is less than one key cannot be hot."""
        if not isinstance(stream.keys, HotSet):
            return
        sets = {each.name: each.keys for each in self.data.sets}
        plain = sets.get(stream.set) if stream.set else self.data.all_sets[0].keys
        keys = stream.ledger_keys if stream.verified else plain
        if keys and keys * stream.keys.hot_keys < 1:
            text = (
                f"found {stream.keys.hot_keys:g}, which of {keys:,} keys is less than one, "
                f"wanted {1 / keys:g} or more"
            )
            yield Problem(("keys", "hot_keys"), text)

    def _players(self, stream: Stream) -> Iterator[Problem]:
        """A reader has players to read from its first moment on, and more than the hot ones."""
        if stream.reader is None:
            return
        writer = self.stream(stream.reader.of)
        if writer is None or writer.play is None:
            players = [each.name for each in self.streams if each.sound("play") is not None]
            wanted = f"one of {', '.join(players)}" if players else "a stream with play: {…}"
            yield Problem(("reader", "of"), f"found {stream.reader.of!r}, wanted {wanted}")
        elif stream.reader.hot_players > writer.play.loaded_players:
            hot, loaded = stream.reader.hot_players, writer.play.loaded_players
            text = f"found {hot:,} of the {loaded:,} loaded_players, wanted no more than those"
            yield Problem(("reader", "hot_players"), text)
        if writer is not None and stream.reader.ratio is not None and not stream.paced:
            text = "needs a stream with a rate: what a closed loop will offer is unknown beforehand"
            yield Problem(("reader", "ratio"), text)
        if stream.rate > MOST_PER_S:
            text = f"comes to {stream.rate:,.0f} operations a second, wanted at most {MOST_PER_S:,}"
            yield Problem(("reader",), text)

    @check
    def _loads(self) -> Iterator[Problem]:
        """A ledger starts from a state that the load phase has written, and so do readers."""
        if self.data.load:
            return
        for stream in self.streams:
            if stream.sound("verified"):
                text = "found false; a verified stream's keys have to be loaded"
                yield Problem(("data", "load"), text)
                return
            if stream.sound("reader") is not None:
                yield Problem(("data", "load"), "found false; the players read have to be loaded")
                return

    @check
    def _one_endpoint(self) -> Iterator[Problem]:
        """There is one HTTP endpoint for votes."""
        votes = [each.sound("vote") for each in self.streams]
        http = [i for i, each in enumerate(votes) if each and each.sound("through") == "http"]
        if len(http) > 1:
            place = ("streams", http[-1], "vote", "through")
            yield Problem(place, "found http again, wanted one stream of votes through http")

    @check
    def _limits(self) -> Iterator[Problem]:
        """A limit needs a stream, and operations of that stream, that it can be measured on."""
        names = [stream.name for stream in self.streams]
        for name, limits in self.sla.items():
            stream = self.stream(name)
            if stream is None:
                wanted = ", ".join(names)
                yield Problem(("sla", name), f"no stream is called so, wanted one of {wanted}")
                continue
            with suppress(Unsound):
                kinds = {"read" if operation in READS else "write" for operation in stream.mix}
                done = {"total", *stream.mix, *kinds}
                for what in limits:
                    if what not in done:
                        wanted = ", ".join(sorted(done))
                        text = f"the stream does no {what}, wanted one of {wanted}"
                        yield Problem(("sla", name, what), text)


def load(name_or_path: str | Path, overrides: Mapping[str, Any] | str = "") -> Workload:
    """Read a workload by name (`lab`) or by path, with `overrides` set on top.

    `name:variant` is the workload with the overrides that its file gives that name.
    `overrides` is a mapping of dotted paths, `{"streams.0.rate": 400}`, or text,
    `"streams.0.rate=400,options.stone.pool_size=1"`. Raises `ConfigurationError` with
    every problem of the file at once, before anything is started.
    """
    plain, variant = split_variant(name_or_path)
    source, text = text_of(plain)
    wanted = parse_overrides(overrides) if isinstance(overrides, str) else dict(overrides)
    data = parse_yaml(text, source)
    chosen = _chosen(data, variant, source)
    workload = _checked(apply_overrides(apply_overrides(data, chosen), wanted), source, data)
    if variant:
        workload._name = f"{workload.name}:{variant}"
    return workload


def split_variant(name_or_path: str | Path) -> tuple[str | Path, str]:
    """Return the name or path of a file, and the variant that is named after a colon, or `""`."""
    text = str(name_or_path)
    if ":" not in text or is_file(Path(text)):
        return name_or_path, ""
    plain, _, variant = text.rpartition(":")
    return (Path(plain) if isinstance(name_or_path, Path) else plain), variant


def variants(name_or_path: str | Path) -> list[str]:
    """Return the names of a workload's variants."""
    return list(load(name_or_path).variants)


def _chosen(data: Mapping[str, Any], variant: str, source: str) -> dict[str, Any]:
    """Return what a variant changes, by dotted path."""
    if not variant:
        return {}
    there = data.get("variants")
    there = there if isinstance(there, dict) else {}
    if variant not in there:
        wanted = (
            f"one of {', '.join(map(str, there))}" if there else "none: the file has no variants"
        )
        raise ConfigurationError(f"{source}: has no variant `{variant}`; wanted {wanted}")
    return dict(there[variant]) if isinstance(there[variant], dict) else {}


def parse(data: Mapping[str, Any], source: str = "workload") -> Workload:
    """Check a workload's settings and return it; `source` is named in every problem.

    Raises `ConfigurationError` with all problems.
    """
    return _checked(data, source, data)


def _checked(data: Mapping[str, Any], source: str, written: Mapping[str, Any]) -> Workload:
    """Return the workload `data`; its variants are held against the file as it was `written`.

    A variant that is not used need not go together with the overrides of this load.
    """
    base = str(Path(source).parent)
    workload, problems = examined(Workload, data, base)
    of_file = problems if written is data else examined(Workload, written, base)[1]
    problems = [*problems, *_variant_problems(written, of_file, base)]
    if workload is None or problems:
        ordered = sorted(problems, key=lambda problem: tuple(map(str, problem.place)))
        raise ConfigurationError([f"{source}: {problem}" for problem in ordered])
    workload._name = Path(source).stem
    return workload


def _variant_problems(data: Mapping[str, Any], of_whole: list[Problem], base: str) -> list[Problem]:
    """Return what is wrong with each variant that is not wrong with the workload itself."""
    variants = data.get("variants")
    problems: list[Problem] = []
    for name, changes in variants.items() if isinstance(variants, dict) else ():
        if not isinstance(changes, dict):
            continue
        try:
            changed = apply_overrides(data, {str(path): value for path, value in changes.items()})
        except ConfigurationError as error:
            problems += [Problem(("variants", name), problem) for problem in error.problems]
            continue
        _, own_problems = examined(Workload, changed, base)
        problems += [
            Problem(("variants", name), str(each)) for each in own_problems if each not in of_whole
        ]
    return problems


def names() -> list[str]:
    """Return every workload that can be named: those in `steady-state/workloads` here, and ours."""
    own = (path.stem for path in _HERE.glob("*.yaml"))
    return sorted({*own, *catalog.names("workloads")})


def text_of(name_or_path: str | Path) -> tuple[str, str]:
    """Return what to call a workload's file in messages, and its text.

    A name means a file in `steady-state/workloads` here, else a shipped one. Raises
    `ConfigurationError` with the known names.
    """
    text = str(name_or_path)
    if isinstance(name_or_path, Path) or catalog.is_path(text):
        return text, read_text(Path(text), "workload")
    own = _HERE / f"{text}.yaml"
    if is_file(own):
        return str(own), read_text(own, "workload")
    if text not in catalog.names("workloads"):
        raise ConfigurationError(
            f"workload `{text}`: unknown; wanted one of {', '.join(names())} or the path of a file",
            f"own ones are looked for in {_HERE}",
        )
    return str(own), catalog.read("workloads", text)
