"""The generator's specification."""

from pathlib import Path
from typing import Any

import pytest

from brownout.base.errors import ConfigurationError
from brownout.load import workload as workloads


def spec(
    overrides: str = "", driver: str = "mongodb", name: str = "lab", **options: Any
) -> dict[str, Any]:
    return workloads.load(name, overrides).to_spec(
        directory=Path("runs/x"),
        seed=4711,
        writer="x",
        driver=driver,
        connection={"uri": "mongodb://a:1/", "password": "s3cr3t"},
        options=options,
    )


def test_a_workload_becomes_the_generators_specification() -> None:
    made = spec()
    assert (made["schema"], made["dir"], made["seed"], made["writer"]) == (1, "runs/x", 4711, "x")
    assert made["data"]["keys"] == 20_000
    orders = made["streams"][1]
    assert orders["mix"] == {"update": 1.0}
    assert (orders["rate"], orders["concurrency"], orders["verified"]) == (300, 0, True)
    assert made["streams"][0]["keys"] == {"distribution": "zipf", "theta": 0.99}


def test_data_sets_are_told_to_the_generator_only_where_there_is_more_than_a_plain_one() -> None:
    assert "sets" not in spec()["data"]
    (only,) = spec("data.fields=2,data.value_bytes=[100, 50]")["data"]["sets"]
    assert only == {
        "name": "data", "keys": 20_000, "value_bytes": [100, 50], "fields": 2, "compress_to": 1.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("driver", "most"), [("mongodb", 16 * 2**20), ("aerospike", 8 * 2**20), ("scripted", None)]
)
def test_a_record_larger_than_the_database_allows_is_refused_before_anything_is_touched(
    driver: str, most: int | None
) -> None:
    large = f"data.value_bytes={most or 16 * 2**20}"
    if most is None:
        assert spec(large, driver)
        return
    with pytest.raises(ConfigurationError, match=f"less than the {most:,} that {driver} allows"):
        spec(large, driver)
    assert spec(f"data.value_bytes={most - 400}", driver)


def test_the_workloads_own_seed_wins() -> None:
    assert spec("seed=7")["seed"] == 7


def test_the_workloads_options_win_over_the_inventorys() -> None:
    made = spec("options.mongodb.write_concern=1", write_concern="majority", pool_size=50)
    assert made["options"] == {"write_concern": "1", "pool_size": 50}


def test_options_of_another_database_are_not_sent() -> None:
    made = spec("options.mongodb.write_concern=1", driver="scripted", anything=1)
    assert made["options"] == {"anything": 1}


@pytest.mark.parametrize(
    ("driver", "options", "reads"),
    [
        ("mongodb", {}, ("eventual", "primary, read concern local")),
        ("mongodb", {"read_concern": "majority"}, ("session", "primary, read concern majority")),
        ("mongodb", {"read_concern": "linearizable"},
         ("linearizable", "primary, read concern linearizable")),
        ("mongodb", {"read_concern": "majority", "write_concern": 1},
         ("eventual", "primary, read concern majority")),
        ("mongodb", {"read_concern": "majority", "read_preference": "nearest"},
         ("eventual", "nearest, read concern majority")),
        ("etcd", {}, ("linearizable", "the leader (linearizable)")),
        ("etcd", {"read": "serializable"}, ("eventual", "one member alone (serializable)")),
        ("redis", {}, ("eventual", "master")),
        ("postgresql", {}, ("eventual", "primary")),
        ("postgresql", {"read_from": "standby"}, ("eventual", "standby")),
        ("cassandra", {}, ("linearizable", "QUORUM")),
        ("cassandra", {"read_consistency": "ONE"}, ("eventual", "ONE")),
        ("couchbase", {"durability": "none"}, ("eventual", "the active copy")),
        ("aerospike", {}, ("eventual", "read mode one, replica sequence")),
        ("scripted", {}, ("eventual", "")),
    ],
)  # fmt: skip
def test_reads_have_the_guarantee_that_the_database_gives_unless_the_stream_says_another(
    driver: str, options: dict[str, Any], reads: tuple[str, str]
) -> None:
    orders = spec(driver=driver, **options)["streams"][1]
    assert (orders["reads"], orders["reads_from"]) == reads
    mixed = "streams.orders.mix={read: 50, update: 50},streams.orders.reads=linearizable"
    assert spec(mixed, driver, **options)["streams"][1]["reads"] == "linearizable"


def test_a_guarantee_needs_reads_that_can_be_checked() -> None:
    with pytest.raises(ConfigurationError, match="reads: found without verified: true and read"):
        spec("streams.orders.reads=session")


def test_a_stream_that_is_to_be_linearizable_wants_reads_to_be() -> None:
    orders = spec("streams.orders.linearizable=true", name="lab:registers")["streams"][1]
    assert (orders["linearizable"], orders["reads"]) == (True, "linearizable")
    assert spec()["streams"][1]["linearizable"] is False


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ("streams.lookups.linearizable=true", "linearizable: found without verified"),
        ("streams.orders.mix={read: 50, operate: 50}", "linearizable: found without verified"),
        ("streams.orders.mix={update: 100}", "linearizable: found without verified"),
        ("streams.orders.reads=session", "reads: found session beside linearizable"),
        ("streams.orders.ledger_keys=1001", "ledger_keys: found 1,001 beside linearizable"),
        ("streams.orders.rate=1001", "rate: found 1001 beside linearizable"),
    ],
)
def test_a_history_is_kept_of_few_registers_and_not_too_fast(changes: str, problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        workloads.load("lab:registers", changes)


def test_a_wrong_option_of_the_inventory_is_named_there() -> None:
    with pytest.raises(ConfigurationError) as caught:
        spec(pool_sise=50)
    assert str(caught.value).startswith("inventory: connection.options.pool_sise: unknown setting")


def test_the_record_of_a_workload_holds_no_secret() -> None:
    assert "s3cr3t" not in str(workloads.load("lab").public())


def test_a_header_by_reference_reaches_the_generator_and_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "Bearer s3cr3t")
    (tmp_path / "cookie.txt").write_text("t0ps3cr3t\n")
    file = tmp_path / "shop.yaml"
    file.write_text("""
streams:
  - name: checkout
    mix: {read: 50, update: 50}
    rate: 10
    http:
      read:
        url: http://shop/{key}
        headers: {Authorization: {env: SHOP_TOKEN}, Accept: text/plain}
      update: {url: "http://shop/", method: PUT, headers: {Cookie: {file: cookie.txt}},
               success: {status: [201, 300-303], body: stored}}
""")
    workload = workloads.load(file)
    recorded = workload.public()
    assert "s3cr3t" not in str(recorded)
    assert recorded["streams"][0]["http"]["read"]["headers"]["Accept"] == "text/plain"
    whole = workload.to_spec(
        directory=Path("x"), seed=1, writer="x", driver="scripted", connection={}, options={}
    )
    http = whole["streams"][0]["http"]
    assert http["keep_alive"] is True
    read, update = http["requests"]["read"], http["requests"]["update"]
    assert read["headers"] == {"Authorization": "Bearer s3cr3t", "Accept": "text/plain"}
    assert update["headers"] == {"Cookie": "t0ps3cr3t"}
    assert (update["method"], update["url"]) == ("PUT", "http://shop/")
    assert update["success"] == {"status": [(201, 201), (300, 303)], "body": "stored"}


def test_a_stream_with_one_request_asks_it_for_every_operation_and_is_recorded_whole() -> None:
    stream = {"name": "checkout", "mix": {"update": 1}, "rate": 10,
              "http": {"url": "http://shop/", "method": "POST", "keep_alive": False}}  # fmt: skip
    workload = workloads.parse({"streams": [stream]})
    endpoint = workload.streams[0].http
    assert endpoint is not None
    assert endpoint.to_spec()["requests"]["update"]["method"] == "POST"
    recorded = workload.public()["streams"][0]["http"]
    assert workloads.parse({"streams": [{**stream, "http": recorded}]}).streams[0].http == endpoint
