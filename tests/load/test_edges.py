"""One table of edge values for both sides: what Python accepts the generator never refuses, and
what would crash the generator is refused by Python."""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzzing import fuzzed

from brownout.base.binary import find_loadgen
from brownout.base.errors import ConfigurationError
from brownout.base.settings_file import apply_overrides
from brownout.load import workload as workloads
from brownout.load.workload import Workload

BASE: dict[str, Any] = {
    "data": {"keys": 100, "value_bytes": 64},
    "streams": [
        {"name": "app", "mix": {"read": 50, "batch": 50}, "rate": 10},
        {"name": "money", "mix": {"update": 100}, "rate": 10, "verified": True, "ledger_keys": 50},
        {"name": "votes", "vote": {}, "rate": 10},
        {"name": "play", "play": {}, "rate": 10},
        {"name": "look", "reader": {"of": "play", "users_per_s": 1}},
        {"name": "loop", "mix": {"insert": 1}, "concurrency": 1},
    ],
}
KEYS = "streams.0.keys"
#: Where, and from the least to the most that is right.
BOUNDS: tuple[tuple[str, Any, Any], ...] = (
    ("seed", 0, 2**63 - 1),
    ("data.keys", 1, 10**10),
    ("data.value_bytes", 0, 16 * 2**20),
    ("data.fields", 1, 64),
    ("data.compress_to", 0.01, 1),
    ("data.load_concurrency", 1, 1024),
    ("lanes.cap", 0, 100_000),
    ("lanes.global_cap", 0, 100_000),
    ("streams.0.rate", 5e-324, 1_000_000),
    ("streams.0.deadline_s", 0.001, 600),
    ("streams.0.batch_keys", 1, 5000),
    ("streams.1.ledger_keys", 1, 10_000_000),
    ("streams.2.vote.counters", 1, 1000),
    ("streams.2.vote.connections", 1, 20_000),
    ("streams.3.play.players", 1, 1_000_000),
    ("streams.3.play.loaded_players", 100, 1_000_000),
    ("streams.3.play.first_player", 0, 2**30 - 1),
    ("streams.3.play.increment_keys", 1, 244),
    ("streams.3.play.doc_scale", 5e-324, 1),
    ("streams.4.reader.plays_per_user", 0, 1000),
    ("streams.4.reader.hot_players", 1, 200),
    ("streams.4.reader.warm_s", 5e-324, 86_400),
    ("streams.4.reader.users_per_s", 1e-300, 21_739),
    ("streams.5.concurrency", 1, 100_000),
    (KEYS, {"distribution": "zipf", "theta": 5e-324}, {"distribution": "zipf", "theta": 20}),
    (KEYS, {"distribution": "gaussian", "sigma": 5e-324}, {"distribution": "gaussian", "sigma": 1}),
    (
        KEYS,
        {"distribution": "hot-set", "hot_keys": 0.01, "hot_share": 5e-324},
        {"distribution": "hot-set", "hot_keys": 1 - 2**-53, "hot_share": 1 - 2**-53},
    ),
    ("streams.0.name", "a", "a" + 31 * "-"),
    ("data.sets", [{"name": "a"}], [{"name": f"s{n}", "keys": 10**10} for n in range(16)]),
    ("streams.2.vote.choices", ["-"], [f"{n:032}" for n in range(100)]),
    ("options.mongodb", {"min_pool_size": 0}, {"min_pool_size": 10_000, "pool_size": 10_000}),
    ("options.mongodb", {"min_pool_size": 10_000}, {"write_concern": 50, "max_connecting": 100}),
)
#: What would crash the generator, or keep it busy for ever.
CRASHES: tuple[tuple[str, Any], ...] = (
    ("data.keys", 0),
    ("data.keys", -1),
    ("data.keys", 2**64),
    ("data.value_bytes", -1),
    ("data.value_bytes", 2**40),
    ("data.load_concurrency", -1),
    ("data.sets", [{"name": "a", "keys": 0, "value_bytes": [1]}]),
    ("data.sets", [{"name": "a", "keys": 1, "value_bytes": []}]),
    ("data.sets", [{"name": "a", "keys": 1, "value_bytes": [-1]}]),
    ("data.sets", [{"name": "a", "keys": 1, "value_bytes": [200], "fields": 101}]),
    ("streams", []),
    ("streams.0.rate", 0),
    ("streams.0.rate", -1),
    ("streams.0.rate", 1e300),
    ("streams.0.deadline_s", -1),
    ("streams.0.deadline_s", 1e300),
    ("streams.0.batch_keys", -1),
    ("streams.0.mix", {}),
    ("streams.0.mix", {"scan": 1}),
    ("streams.0.mix", {"vote": 1}),
    ("streams.0.set", "none"),
    ("streams.0.name", "money"),
    ("streams.0.arrivals", "bursts"),
    ("streams.0.retries", "twice"),
    ("streams.0.keys", {"distribution": "zip"}),
    ("streams.0.keys", {"distribution": "zipf", "theta": 1e300}),
    ("streams.0.keys", {"distribution": "gaussian", "sigma": 1e300}),
    ("streams.1.ledger_keys", 0),
    ("streams.1.ledger_keys", 2**40),
    ("streams.1.mix", {"insert": 1}),
    ("streams.2.vote.choices", []),
    ("streams.2.vote.counters", 2**40),
    ("streams.2.vote.through", "air"),
    ("streams.3.play.players", 0),
    ("streams.3.play.players", 2**40),
    ("streams.3.play.loaded_players", 0),
    ("streams.3.play.first_player", -1),
    ("streams.3.play.increment_keys", 245),
    ("streams.3.play.doc_scale", 2),
    ("streams.3.play.profile", "fast"),
    ("streams.4.reader.of", "app"),
    ("streams.4.reader.hot_players", 0),
    ("data.load", False),
    ("streams.5.concurrency", -1),
    ("streams.5.concurrency", 2**40),
    ("lanes.cap", -1),
    ("options.mongodb", {"pool_size": 0}),
    ("options.mongodb", {"heartbeat_ms": 1}),
)

Ask = Callable[[Any], Any]


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    """What the generator says of a specification."""
    words = [str(find_loadgen()), "check"]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def said(spec: Any) -> Any:
            print(json.dumps(spec), file=process.stdin, flush=True)
            return json.loads(process.stdout.readline())  # type: ignore[union-attr]

        yield said
        process.stdin.close()


def spec(workload: Workload, driver: str = "mongodb") -> dict[str, Any]:
    return workload.to_spec(
        directory=Path("x"), seed=1, writer="w", driver=driver, connection={}, options={}
    )


def with_large_records_elsewhere(workload: Workload) -> dict[str, Any]:
    """The specification, for a database that takes records of any size."""
    return {**spec(workload, "scripted"), "driver": "mongodb",
            "options": spec_options(workload)}  # fmt: skip


def spec_options(workload: Workload) -> dict[str, Any]:
    small = workload.model_copy(update={"data": workloads.parse(BASE).data})
    found: dict[str, Any] = spec(small)["options"]
    return found


EDGES = [(place, value) for place, least, most in BOUNDS for value in (least, most)]


@pytest.mark.parametrize(("place", "value"), EDGES, ids=lambda value: str(value)[:30])
def test_what_python_accepts_the_generator_takes(ask: Ask, place: str, value: Any) -> None:
    changed = apply_overrides(BASE, {place: value})
    if place == "data.sets":
        changed["data"] = {"sets": value}
    workload = workloads.parse(changed)
    assert ask(with_large_records_elsewhere(workload)) == {"ok": True}


@pytest.mark.parametrize(("place", "value"), CRASHES, ids=lambda value: str(value)[:30])
def test_what_would_crash_the_generator_both_refuse(ask: Ask, place: str, value: Any) -> None:
    with pytest.raises(ConfigurationError):
        workloads.parse(apply_overrides(BASE, {place: value}))
    there = place.replace("lanes.cap", "lane_cap").replace("options.mongodb", "options")
    damaged = apply_overrides(spec(workloads.parse(BASE)), {there: value})
    answer = ask(damaged)
    assert not answer["ok"]
    assert all(answer["problems"])


def test_every_bound_of_the_schema_is_refused_beyond_its_edge() -> None:
    for place, least, most in BOUNDS:
        if isinstance(least, int) and isinstance(most, int):
            for beyond in (least - 1, most + 1):
                with pytest.raises(ConfigurationError):
                    workloads.parse(apply_overrides(BASE, {place: beyond}))


@st.composite
def at_the_edges(draw: st.DrawFn) -> dict[str, Any]:
    """The base with any of its settings at any edge, or anywhere between."""
    changed = dict(BASE)
    for place, least, most in draw(st.lists(st.sampled_from(BOUNDS), max_size=6)):
        if place != "data.sets":
            values = st.sampled_from((least, most))
            if isinstance(least, int) and isinstance(most, int):
                values |= st.integers(least, most)
            elif isinstance(least, float):
                values |= st.floats(least, most)
            changed = apply_overrides(changed, {place: draw(values)})
    return changed


@fuzzed(200)
@given(raw=at_the_edges())
def test_any_workload_at_its_edges_is_taken_by_both_or_refused_by_python(
    ask: Ask, raw: dict[str, Any]
) -> None:
    try:
        workload = workloads.parse(raw)
        wanted = with_large_records_elsewhere(workload)
    except ConfigurationError:
        return
    assert ask(wanted) == {"ok": True}
