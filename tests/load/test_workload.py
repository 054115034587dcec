"""Workload files: what is read, what is refused, and with which words."""

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from brownout.base import catalog
from brownout.base.errors import ConfigurationError
from brownout.cli import schemas
from brownout.load import workload as workloads
from brownout.load.workload import Workload
from brownout.load.workload_fields import OPERATIONS

PLAIN_OPERATIONS = [operation for operation in OPERATIONS if operation != "vote"]
MINIMAL = {"streams": [{"name": "app", "mix": {"read": 70, "update": 30}, "rate": 100}]}

#: A stream of players, and what a reader of them has.
PLAYERS = {"name": "p", "play": {}, "rate": 100}
READS = {"of": "p", "ratio": 0.2}


def where(problem: str) -> str:
    """Return the place that a problem names."""
    return problem.partition(": ")[0]


def problems(settings: Any) -> list[str]:
    """What is wrong with `settings`, without the file's name."""
    with pytest.raises(ConfigurationError) as caught:
        workloads.parse(settings, "x.yaml")
    return [problem.removeprefix("x.yaml: ") for problem in caught.value.problems]


def stream(**changes: object) -> dict[str, object]:
    """The minimal workload with a changed stream; None removes a setting."""
    changed = {**MINIMAL["streams"][0], **changes}
    return {"streams": [{k: v for k, v in changed.items() if v is not None}]}


READ = {"read": 1}
#: An endpoint that takes updates.
POSTED = {"url": "http://shop/", "method": "POST"}


@pytest.mark.parametrize("name", catalog.names("workloads"))
def test_every_shipped_workload_is_valid_and_says_what_it_is(name: str) -> None:
    workload = workloads.load(name)
    assert workload.name == name
    assert workload.title
    assert any(s.verified for s in workload.streams), "nothing would be known of lost writes"


def test_the_lab_workload_leaves_the_lab_headroom() -> None:
    workload = workloads.load("lab")
    assert workload.rate == 800
    assert workload.summary() == "lab 800/s open loop, deadline 1 s"
    for verified in (s for s in workload.streams if s.verified):
        # A write in doubt locks its key for about two deadlines.
        assert verified.ledger_keys > 5 * verified.rate * 2 * verified.deadline_s


def test_settings_that_are_left_out_have_their_defaults() -> None:
    workload = workloads.parse(MINIMAL)
    only = workload.streams[0]
    assert (only.deadline_s, only.retries, only.arrivals) == (1.0, "none", "constant")
    assert only.keys.distribution == "uniform"
    assert only.shares() == {"read": 0.7, "update": 0.3}
    assert workload.namespace == "brownout"


def test_three_errors_of_a_file_are_reported_at_once(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(
        """
        data: {keys: 0}
        streams:
          - {name: app, mix: {reed: 70, update: 30}, rate: 100}
          - {name: bulk, mix: {insert: 1}}
        """
    )
    with pytest.raises(ConfigurationError) as caught:
        workloads.load(path)
    assert caught.value.problems == [
        f"{path}: data.keys: found 0, wanted at least 1",
        f"{path}: streams[0].mix.reed: found 'reed', "
        "wanted read, update, insert, increment, operate, batch or vote",
        f"{path}: streams[1]: no pace, wanted one of rate (open loop), concurrency (closed loop)",
    ]


def test_an_sla_says_per_stream_and_kind_of_operation_what_is_promised() -> None:
    limits = {"app": {"read": {"p999_ms": 1}, "write": {"p999_ms": 2.5, "max_ms": 100}}}
    workload = workloads.parse({**MINIMAL, "sla": limits})
    assert workload.sla == limits
    assert workload.public()["sla"] == limits


@pytest.mark.parametrize(
    ("sla", "wanted"),
    [
        ({"ap": {"read": {"p99_ms": 1}}}, "sla.ap: no stream is called so, wanted one of app"),
        (
            {"app": {"insert": {"p99_ms": 1}}},
            "sla.app.insert: the stream does no insert, wanted one of read, total, update, write",
        ),
        ({"app": {}}, "sla.app: "),
        ({"app": {"read": {}}}, "sla.app.read: "),
        ({"app": {"red": {"p99_ms": 1}}}, "sla.app.red: found 'red', wanted total, read,"),
        ({"app": {"read": {"p98_ms": 1}}}, "sla.app.read.p98_ms: found 'p98_ms', wanted p50_ms,"),
        ({"app": {"read": {"p99_ms": 0}}}, "sla.app.read.p99_ms: found 0, wanted more than 0"),
        ({"app": {"read": {"p99_ms": -1}}}, "sla.app.read.p99_ms: found -1, wanted more than 0"),
        ({"app": 3}, "sla.app: found 3, wanted a mapping"),
    ],
)
def test_an_sla_that_cannot_be_judged_is_refused(sla: Any, wanted: str) -> None:
    (found,) = problems({**MINIMAL, "sla": sla})
    assert found.startswith(wanted)


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({}, "streams: "),
        ({"streams": []}, "streams: found 0, wanted 1 to 64"),
        ({"streams": 3}, "streams: found 3, wanted a list"),
        ({"streams": [3]}, "streams[0]: found 3, wanted a mapping"),
        (stream(rate=0), "streams[0].rate: found 0, wanted more than 0"),
        (stream(rate="fast"), "streams[0].rate: found 'fast', wanted a number"),
        (stream(rate=2_000_000), "streams[0].rate: found 2000000, wanted at most 1,000,000"),
        (
            stream(concurrency=4),
            "streams[0].concurrency: found beside rate, wanted one of rate, concurrency",
        ),
        (
            stream(rate=None, concurrency=4, arrivals="poisson"),
            "streams[0].arrivals: found without rate; a closed loop has no schedule",
        ),
        (
            stream(arrivals="bursts"),
            "streams[0].arrivals: found 'bursts', wanted constant or poisson",
        ),
        (
            stream(retries="twice"),
            "streams[0].retries: found 'twice', wanted none, once or driver-default",
        ),
        (stream(name="total"), "streams[0].name: found 'total'; total, read, write are the"),
        (stream(name="My App"), "streams[0].name: found 'My App', wanted text that matches"),
        (stream(mix={}), "streams[0].mix: "),
        (stream(mix={"read": 70, "update": 20}), "streams[0].mix: adds up to 90, wanted 100"),
        (stream(mix={"read": 2}), "streams[0].mix: adds up to 2, wanted 100 (percent), or 1"),
        (stream(set="users"), "streams[0].set: found 'users', wanted no set: there is one"),
        (
            {"data": {"sets": [{"name": "users"}]}, **stream(set="user")},
            "streams[0].set: found 'user', wanted one of users",
        ),
        (
            {"data": {"keys": 3, "sets": [{"name": "users"}]}, **MINIMAL},
            "data.keys: found beside sets, wanted it in each of the sets",
        ),
        (
            {"data": {"sets": [{"name": "a"}, {"name": "a"}]}, **MINIMAL},
            "data.sets[1].name: found 'a' again, wanted a name of its own",
        ),
        (
            {"data": {"keys": 5}, **stream(keys={"distribution": "hot-set", "hot_keys": 0.1})},
            "streams[0].keys.hot_keys: found 0.1, which of 5 keys is less than one, wanted 0.2",
        ),
        (
            {"data": {"value_bytes": 17_000_000}, **MINIMAL},
            "data.value_bytes: found 17000000, wanted a size from 0 to 16,777,216 bytes",
        ),
        (
            {"data": {"value_bytes": [10, -1]}, **MINIMAL},
            "data.value_bytes: found a list, wanted a size from 0 to 16,777,216 bytes, or a list",
        ),
        ({"data": {"fields": 0}, **MINIMAL}, "data.fields: found 0, wanted at least 1"),
        ({"data": {"compress_to": 0}, **MINIMAL}, "data.compress_to: found 0, wanted at least"),
        (stream(mix={"vote": 100}), "streams[0].mix.vote: found without vote: {…}"),
        (
            {"streams": [{"name": "v", "vote": {}, "mix": {"read": 100}, "rate": 1}]},
            "streams[0].mix: found beside vote, from which the operations follow",
        ),
        (
            {"streams": [{"name": "v", "vote": {}, "rate": 1, "retries": "once"}]},
            "streams[0].retries: found once; a vote is never done again: wanted none",
        ),
        (
            {"streams": [{"name": n, "vote": {}, "rate": 1} for n in ("a", "b")]},
            "streams[1].vote.through: found http again, wanted one stream of votes through http",
        ),
        (
            {"streams": [{"name": "r", "reader": {"of": "p", "users_per_s": 1}}]},
            "streams[0].reader.of: found 'p', wanted a stream with play: {…}",
        ),
        (
            {"streams": [PLAYERS, {"name": "r", "reader": {"of": "p"}}]},
            "streams[1].reader: found neither of ratio and users_per_s, wanted one of them",
        ),
        (
            {"streams": [PLAYERS, {"name": "r", "reader": {"of": "p", "ratio": 1}}]},
            "streams[1].reader.ratio: found 1, wanted less than 1",
        ),
        (
            {"streams": [PLAYERS, {"name": "r", "reader": {**READS, "hot_players": 201}}]},
            "streams[1].reader.hot_players: found 201 of the 200 loaded_players, wanted no more",
        ),
        (
            {"streams": [PLAYERS, {"name": "r", "reader": {**READS, "hot_share": 0.8}}]},
            "streams[1].reader.warm_share: hot_share and warm_share add up to 1.1, wanted 1 or",
        ),
        (
            {"streams": [{"name": "p", "play": {"increment_keys": 245}, "rate": 1}]},
            "streams[0].play.increment_keys: found 245, wanted at most 244",
        ),
        (
            {"variants": {"a": {"data.keys": 0}}, **MINIMAL},
            "variants.a: data.keys: found 0, wanted",
        ),
        ({"variants": {"a": {"streams.b.rate": 1}}, **MINIMAL}, "variants.a: override `streams.b"),
        (stream(mix={"read": -1}), "streams[0].mix.read: found -1, wanted more than 0"),
        (
            stream(keys={"distribution": "zip"}),
            "streams[0].keys: found 'zip', wanted distribution: uniform, zipf, gaussian, hot-set",
        ),
        (
            stream(keys={"distribution": "zipf", "sigma": 1}),
            "streams[0].keys.sigma: unknown setting",
        ),
        (
            stream(ledger_keys=3),
            "streams[0].ledger_keys: found without verified: true; remove it or verify",
        ),
        (
            stream(verified=True),
            "streams[0].ledger_keys: missing; a verified stream says how many keys it has",
        ),
        (
            stream(verified=True, ledger_keys=9, mix={"insert": 50, "update": 50}),
            "streams[0].mix.insert: a verified stream has fixed keys, wanted update",
        ),
        (
            stream(verified=True, ledger_keys=9, mix={"read": 1}),
            "streams[0].mix: a verified stream without writes, wanted update, operate or increment",
        ),
        (
            stream(client={"command": ["./client"]}),
            "streams[0].client: found without verified: true and a mix, wanted both",
        ),
        (
            stream(verified=True, ledger_keys=9, client={"command": []}),
            "streams[0].client.command: found",
        ),
        (
            stream(verified=True, ledger_keys=9, mix={"increment": 1}, client={"command": ["x"]}),
            "streams[0].mix: found increment; a client does read and update",
        ),
        (stream(http={}), "streams[0].http.url: missing, wanted url, or read and update"),
        (
            stream(http={"url": "shop/{key}"}),
            "streams[0].http.url: wanted a URL, as in http://shop.example.com:8000/orders/{key}",
        ),
        (
            stream(http={"url": "http://shop/{id}"}),
            "streams[0].http.url: found {id} in it, wanted {key} or {sequence}",
        ),
        (
            stream(http={"url": "http://me:s3cr3t@shop/"}),
            "streams[0].http.url: found a login or a secret in it, wanted a header, as {env: NAME}",
        ),
        (
            stream(
                mix=READ, http={"url": "http://shop/", "headers": {"Authorization": "Bearer x"}}
            ),
            "streams[0].http.headers.Authorization: ",
        ),
        (
            stream(mix=READ, http={"url": "http://shop/", "success": {"status": [700]}}),
            "streams[0].http.success.status[0]: found 700, wanted a status, as 204, or a range",
        ),
        (
            stream(mix=READ, http={"read": {"url": "http://shop/"}, "body": "x"}),
            "streams[0].http.body: found beside read or update, wanted it in each of them",
        ),
        (
            stream(mix={"update": 1}, http={"read": {"url": "http://shop/"}}),
            "streams[0].http.update: missing, the mix has update",
        ),
        (
            stream(mix={"update": 1}, http={"url": "http://shop/"}),
            "streams[0].http.method: found GET for an update, wanted POST, PUT, PATCH or DELETE",
        ),
        (
            stream(mix={"increment": 1}, http={"url": "http://shop/"}),
            "streams[0].mix: found increment, wanted read and update: these are asked by http",
        ),
        (
            stream(verified=True, ledger_keys=9, mix={"update": 1}, http=POSTED),
            "streams[0].verified: found beside http, which has no ledger: wanted false",
        ),
        (
            stream(retries="once", http=POSTED),
            "streams[0].retries: found once beside http, wanted none",
        ),
        (
            {**stream(verified=True, ledger_keys=9), "data": {"load": False}},
            "data.load: found false; a verified stream's keys have to be loaded",
        ),
        (
            {**MINIMAL, "options": {"mongodb": {"write_concern": 0}}},
            "options.mongodb.write_concern: found 0, wanted majority or a number of members from 1",
        ),
        (
            {**MINIMAL, "options": {"mongodb": {"journal": "yes"}}},
            "options.mongodb.journal: found 'yes'",
        ),
        (
            {**MINIMAL, "options": {"mongo": {}}},
            "options.mongo: unknown setting",
        ),
        ({**MINIMAL, "name": "x"}, "name: unknown setting"),
        ({**MINIMAL, "namespace": "a/b"}, "namespace: found 'a/b', wanted text that matches"),
    ],
)
def test_each_wrong_setting_is_named_with_what_is_wanted(settings: object, wanted: str) -> None:
    found = problems(settings)
    assert len(found) == 1
    assert found[0].startswith(wanted)


def test_the_second_stream_of_a_name_is_refused() -> None:
    twice = {"streams": [MINIMAL["streams"][0]] * 2}
    assert [where(each) for each in problems(twice)] == ["streams[1].name"]


def test_an_unknown_workload_is_told_the_known_ones() -> None:
    with pytest.raises(
        ConfigurationError,
        match=r"wanted one of address-kept, adtech, client-never-recovers, .* or the path",
    ):
        workloads.load("labb")


@pytest.mark.parametrize("path", ["no/such.yaml", "such.yml", "such.json", "no/such"])
def test_a_file_that_is_not_there_is_named(path: str) -> None:
    with pytest.raises(ConfigurationError, match=f"workload `{path}`: No such file"):
        workloads.load(path)


def test_a_file_of_json_is_read_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.json").write_text(json.dumps(MINIMAL))
    monkeypatch.chdir(tmp_path)

    assert workloads.load("mine.json").name == "mine"


def test_overrides_are_checked_like_the_file() -> None:
    changed = workloads.load("lab", "streams.orders.rate=50,options.mongodb.write_concern=1")
    assert changed.streams[1].rate == 50
    assert changed.options.model_dump()["mongodb"]["write_concern"] == 1
    with pytest.raises(ConfigurationError, match=r"streams\[0\].rat: unknown setting"):
        workloads.load("lab", {"streams.0.rat": 400})


def test_an_open_and_a_closed_stream_make_a_mixed_loop() -> None:
    closed = {"name": "batch", "mix": {"read": 1}, "concurrency": 8, "deadline_s": 2.5}
    workload = workloads.parse({"streams": [*MINIMAL["streams"], closed]}, "both.yaml")
    assert workload.loop == "mixed"
    assert (
        workload.summary() == "both 100/s open loop, 8 workers closed loop, deadline 1 s and 2.5 s"
    )


def test_a_variant_is_the_file_with_its_changes_and_goes_by_both_names() -> None:
    plain, changed = workloads.load("key-value-3x50"), workloads.load("key-value-3x50:50-50")
    assert plain.streams[0].shares() == {"read": 0.8, "update": 0.2}
    assert changed.streams[0].shares() == {"read": 0.5, "update": 0.5}
    assert (plain.name, changed.name) == ("key-value-3x50", "key-value-3x50:50-50")
    assert "variants" not in changed.public()


def test_overrides_win_over_a_variant() -> None:
    assert workloads.load("key-value-3x50:0-100", "streams.app.rate=5").streams[0].rate == 5


def test_overrides_need_not_go_together_with_a_variant_that_is_not_used() -> None:
    workloads.load("lab", "streams.orders.mix={read: 50, update: 50},streams.orders.reads=session")
    with pytest.raises(ConfigurationError, match="found session beside linearizable: true"):
        workloads.load("lab:registers", "streams.orders.reads=session")


def test_an_unknown_variant_is_refused_with_those_there_are() -> None:
    with pytest.raises(ConfigurationError, match="no variant `5-95`; wanted one of 100-0, 95-5,"):
        workloads.load("key-value-3x50:5-95")
    with pytest.raises(ConfigurationError, match="no variant `x`; wanted none: the file has no"):
        workloads.load("adtech:x")


@pytest.mark.parametrize("name", ["key-value-3x50", "key-value-10x10"])
def test_the_five_published_mixes_are_variants(name: str) -> None:
    mixes = [
        workloads.load(f"{name}:{each}").streams[0].shares() for each in workloads.variants(name)
    ]
    reads = [mix.get("read", 0) for mix in mixes]
    assert reads == pytest.approx([1, 0.95, 0.8, 0.5, 0])


def test_a_reader_follows_what_the_writers_offer() -> None:
    reader = {"name": "r", "reader": READS}
    assert workloads.parse({"streams": [PLAYERS, reader]}).streams[1].rate == 25
    faster = {**PLAYERS, "rate": 400}
    assert workloads.parse({"streams": [faster, reader]}).streams[1].rate == 100


def test_two_thousand_users_a_second_are_so_many_records() -> None:
    users = {"name": "r", "reader": {"of": "p", "users_per_s": 2000, "plays_per_user": 38}}
    assert workloads.parse({"streams": [PLAYERS, users]}).streams[1].rate == 80_000


def test_what_is_recorded_is_the_workload_again() -> None:
    recorded = workloads.load("key-value").public()
    assert recorded.pop("name") == "key-value"
    again = yaml.safe_load(yaml.safe_dump(recorded))
    for one in again["streams"]:  # the defaults of what a stream does not use
        if not one["verified"]:
            one.pop("ledger_keys")
        one.pop("concurrency")
    assert workloads.parse(again, "key-value.yaml").streams == workloads.load("key-value").streams


@given(
    st.dictionaries(st.sampled_from(PLAIN_OPERATIONS), st.floats(0.01, 1e6), min_size=1),
    st.sampled_from([1, 100]),
)
def test_shares_add_up_to_one_from_percent_and_from_shares(
    weights: dict[str, float], whole: int
) -> None:
    total = sum(weights.values())
    mix = {operation: weight / total * whole for operation, weight in weights.items()}
    shares = workloads.parse(stream(mix=mix)).streams[0].shares()
    assert sum(shares.values()) == pytest.approx(1)
    assert shares == pytest.approx({name: weight / total for name, weight in weights.items()})


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["streams", "name", "mix", "rate", "keys", "read", "data"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_nonsense_is_refused_and_never_crashes(nonsense: object) -> None:
    settings = nonsense if isinstance(nonsense, dict) else {"streams": nonsense}
    with contextlib.suppress(ConfigurationError):
        assert isinstance(workloads.parse(settings), Workload)


def test_everything_wrong_is_told_at_once_whatever_else_is_wrong() -> None:
    """A contradiction is found beside a setting that is wrong itself, in the same stream."""
    found = problems({
        "data": {"keys": 0, "load": False, "sets": [{"name": "a", "keys": 5}, {"name": "a"}]},
        "streams": [
            3,
            {"name": "app", "mix": {"read": 70, "update": 20}, "rate": -1, "concurrency": 4,
             "x": 1},
            {"name": "app", "rate": 1, "set": "b"},
            {"mix": {"update": 1}, "rate": 1, "verified": True},
            {"name": "r", "reader": {"of": "app", "ratio": 2, "hot_players": 0}},
        ],
        "sla": {"nobody": {"read": {"p99_ms": 1}}},
        "lanes": {"cap": -1},
    })  # fmt: skip
    assert [where(each) for each in found] == [
        *("data.keys", "data.keys", "data.load", "data.sets[1].name", "lanes.cap", "streams[0]"),
        *("streams[1].concurrency", "streams[1].mix", "streams[1].rate", "streams[1].x"),
        *("streams[2].mix", "streams[2].name", "streams[2].set"),
        *("streams[3].ledger_keys", "streams[3].name"),
        *("streams[4].reader.hot_players", "streams[4].reader.of", "streams[4].reader.ratio"),
    ]


def test_a_part_by_itself_raises_what_its_settings_mean_for_each_other() -> None:
    with pytest.raises(ValidationError, match="adds up to 90"):
        Workload.model_validate(stream(mix={"read": 70, "update": 20}))


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        (
            {"data": {"fields": 9, "value_bytes": [5, 90]}, **MINIMAL},
            "data.fields: found 9 fields of values of 5 bytes, wanted 5 at most",
        ),
        (
            {"streams": [{"name": "v", "vote": {"choices": ["y", "n", "y"]}, "rate": 1}]},
            "streams[0].vote.choices: found 'y' 2 times, wanted each name once",
        ),
        (
            {"data": {"load": False}, "streams": [PLAYERS, {"name": "r", "reader": READS}]},
            "data.load: found false; the players read have to be loaded",
        ),
        (
            {"streams": [PLAYERS, {"name": "r", "reader": {"of": "p", "users_per_s": 999_999}}]},
            "streams[1].reader: comes to 45,999,954 operations a second, wanted at most 1,000,000",
        ),
    ],
)
def test_what_only_the_generator_refused_is_refused_with_the_file(
    settings: object, wanted: str
) -> None:
    assert problems(settings) == [wanted]


NUMBERS = {"integer", "number"}
UNITS = re.compile(r"number |number$|bytes|seconds|second|share|percent|without a unit|lowest id|"
                   r"_ms|members|connections|errors per|intervals|\bms\b|time")  # fmt: skip


def described(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, model in [("Workload", schema), *schema["$defs"].items()]:
        for setting, one in model.get("properties", {}).items():
            yield f"{name}.{setting}", one


def test_the_schema_for_editors_knows_and_describes_every_setting() -> None:
    schema = schemas.schema("workload")
    assert set(schema["properties"]) == {
        "title", "seed", "namespace", "data", "streams", "variants", "sla", "lanes", "options",
    }  # fmt: skip
    assert schema["additionalProperties"] is False
    assert "deadline_s" in schema["$defs"]["Stream"]["properties"]
    assert not [name for name, one in described(schema) if len(one.get("description", "")) < 5]


def test_the_schema_says_the_unit_of_every_number_of_a_workload() -> None:
    for name, one in described(schemas.schema("workload")):
        kinds = {one.get("type"), *(each.get("type") for each in one.get("anyOf", ()))}
        if kinds & NUMBERS and "Options" not in name:
            assert UNITS.search(one["description"]), name
        if kinds & NUMBERS and "Options" in name:
            assert UNITS.search(one["description"] + name), name


def test_the_schema_has_the_bounds_that_are_checked() -> None:
    parts = schemas.schema("workload")["$defs"]
    rate = parts["Stream"]["properties"]["rate"]
    assert (rate["exclusiveMinimum"], rate["maximum"]) == (0, 1_000_000)
    assert parts["Gaussian"]["properties"]["sigma"]["maximum"] == 1
    streams = schemas.schema("workload")["properties"]["streams"]
    assert (streams["minItems"], streams["maxItems"]) == (1, 64)


def test_a_name_means_a_file_here_before_a_shipped_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shipped = catalog.read("workloads", "key-value")
    own = tmp_path / "steady-state" / "workloads"
    own.mkdir(parents=True)
    (own / "checkout.yaml").write_text(f"{shipped}\n")
    (own / "key-value.yaml").write_text(shipped.replace("rate: 1600", "rate: 30"))
    assert workloads.load("checkout").name == "checkout"
    assert workloads.load("key-value").streams[0].rate == 30
    assert {"checkout", "lab"} <= set(workloads.names())
    with pytest.raises(ConfigurationError, match=r"`chekout`: unknown; wanted one of .*checkout"):
        workloads.load("chekout")
