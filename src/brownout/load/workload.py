"""A workload: what is normal for a test, read from YAML and checked before anything starts.

    title: a read stream and a verified write stream
    data: {keys: 20000, value_bytes: 256}
    streams:
      - {name: lookups, mix: {read: 100}, rate: 500}
      - {name: orders, mix: {update: 100}, rate: 300, verified: true, ledger_keys: 4000}

`docs/workloads.md` explains every setting. A workload holds no secret and names no cluster.
"""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr, ValidationError

from brownout.base.errors import ConfigurationError
from brownout.base.problems import Problem, problems_in
from brownout.base.settings_file import apply_overrides, parse_overrides, parse_yaml, read_text
from brownout.load.checks import cross_problems
from brownout.load.model_checks import is_named
from brownout.load.options import DriverOptions
from brownout.load.spec import build
from brownout.load.workload_base import Settings
from brownout.load.workload_fields import Data, Lanes, Sla, Stream
from brownout.load.workload_models import reader_rate

__all__ = ["Workload", "json_schema", "load", "names", "parse", "split_variant", "variants"]

_SHIPPED = files("brownout") / "steady-state" / "workloads"


class Workload(Settings):
    """A validated workload. Make one with `load` or `parse`, which also check across settings."""

    title: Annotated[str, Field(description="one line for reports")] = ""
    seed: Annotated[
        int | None, Field(ge=0, lt=2**63, description="of keys and arrivals; unset: the run's")
    ] = None
    namespace: Annotated[
        str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,37}$", description="database or key prefix")
    ] = "brownout"
    data: Data = Data()
    streams: Annotated[tuple[Stream, ...], Field(strict=False)]
    variants: Annotated[
        dict[Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,31}$")], dict[str, Any]],
        Field(default_factory=dict, description="name -> changes by path: `workload:name`"),
    ]
    sla: Annotated[
        dict[str, Sla],
        Field(default_factory=dict, description="stream -> what it does -> percentile -> ms"),
    ]
    lanes: Lanes = Lanes()
    options: DriverOptions = DriverOptions()
    _name: str = PrivateAttr("")

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

    def to_spec(
        self,
        *,
        directory: Path,
        seed: int,
        writer: str,
        driver: str,
        connection: Mapping[str, Any],
        options: Mapping[str, Any],
        labels: Mapping[str, str] = MappingProxyType({}),
    ) -> dict[str, Any]:
        """Return the generator's specification, as `spec.build` says."""
        return build(
            self,
            directory=directory,
            seed=seed,
            writer=writer,
            driver=driver,
            connection=connection,
            options=options,
            labels=labels,
        )

    def public(self) -> dict[str, Any]:
        """Return the resolved workload for `run.json`; there is no secret in it."""
        settings = self.model_dump(mode="json", exclude_none=True, exclude={"variants"})
        return {"name": self.name, **settings}


def names() -> list[str]:
    """Return the names of the workloads that come with brownout."""
    return sorted(
        item.name.removesuffix(".yaml")
        for item in _SHIPPED.iterdir()
        if item.name.endswith(".yaml")
    )


def load(name_or_path: str | Path, overrides: Mapping[str, Any] | str = "") -> Workload:
    """Read a workload by shipped name (`lab`) or by path, with `overrides` set on top.

    `name:variant` is the workload with the overrides that its file gives that name.
    `overrides` is a mapping of dotted paths, `{"streams.0.rate": 400}`, or text,
    `"streams.0.rate=400,options.stone.pool_size=1"`. Raises `ConfigurationError` with
    every problem of the file at once, before anything is started.
    """
    plain, variant = split_variant(name_or_path)
    source, text = _read(plain)
    wanted = parse_overrides(overrides) if isinstance(overrides, str) else dict(overrides)
    data = parse_yaml(text, source)
    chosen = _chosen(data, variant, source)
    data = apply_overrides(apply_overrides(data, chosen), wanted)
    workload = parse(data, source)
    if variant:
        workload._name = f"{workload.name}:{variant}"
    return workload


def split_variant(name_or_path: str | Path) -> tuple[str | Path, str]:
    """Return the name or path of a file, and the variant that is named after a colon, or `""`."""
    text = str(name_or_path)
    if ":" not in text or Path(text).exists():
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
        known = (
            f"one of {', '.join(map(str, there))}" if there else "none: the file has no variants"
        )
        raise ConfigurationError(f"{source}: has no variant `{variant}`; wanted {known}")
    return dict(there[variant]) if isinstance(there[variant], dict) else {}


def _with_reader_rates(data: Mapping[str, Any]) -> dict[str, Any]:
    """Give each reader the rate that follows from its settings, unless one is stated."""
    streams = data.get("streams")
    if not isinstance(streams, list):
        return dict(data)
    rates = {s["name"]: s.get("rate") for s in streams if is_named(s)}
    return {**data, "streams": [_with_rate(stream, rates) for stream in streams]}


def _with_rate(stream: Any, rates: Mapping[Any, Any]) -> Any:
    reader = stream.get("reader") if isinstance(stream, dict) else None
    if not isinstance(reader, dict) or "rate" in stream or "concurrency" in stream:
        return stream
    of = reader.get("of")
    rate = reader_rate(reader, rates.get(of) if isinstance(of, str) else None)
    return stream if rate is None else {**stream, "rate": rate}


def parse(data: Mapping[str, Any], source: str = "workload") -> Workload:
    """Check a workload's settings and return it; `source` is named in every problem.

    Raises `ConfigurationError` with all problems.
    """
    workload, problems = _validated(data)
    problems += _variant_problems(data, problems)
    if problems or workload is None:
        ordered = sorted(problems, key=lambda problem: tuple(map(str, problem.place)))
        raise ConfigurationError([f"{source}: {problem}" for problem in ordered])
    workload._name = Path(source).stem
    return workload


def _validated(data: Mapping[str, Any]) -> tuple[Workload | None, list[Problem]]:
    problems = cross_problems(data)
    try:
        return Workload.model_validate(_with_reader_rates(data)), problems
    except ValidationError as error:
        return None, problems + problems_in(error, Workload)


def _variant_problems(data: Mapping[str, Any], known: list[Problem]) -> list[Problem]:
    """Return what is wrong with each variant that is not wrong with the workload itself."""
    variants = data.get("variants")
    found: list[Problem] = []
    for name, changes in variants.items() if isinstance(variants, dict) else ():
        if not isinstance(changes, dict):
            continue
        try:
            changed = apply_overrides(data, {str(path): value for path, value in changes.items()})
        except ConfigurationError as error:
            found += [Problem(("variants", name), problem) for problem in error.problems]
            continue
        _, problems = _validated(changed)
        found += [Problem(("variants", name), str(each)) for each in problems if each not in known]
    return found


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of a workload file, for editors that complete and check YAML."""
    dialect = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": dialect, **Workload.model_json_schema()}


def _read(name_or_path: str | Path) -> tuple[str, str]:
    """Return what to call the file in messages, and its text."""
    text = str(name_or_path)
    if isinstance(name_or_path, Path) or "/" in text or text.endswith((".yaml", ".yml")):
        return text, read_text(Path(text), "workload")
    if text not in names():
        raise ConfigurationError(
            f"workload `{text}`: unknown; wanted one of {', '.join(names())} or the path of a file"
        )
    return f"steady-state/workloads/{text}.yaml", (_SHIPPED / f"{text}.yaml").read_text("utf-8")
