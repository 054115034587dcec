"""Every result says which driver made the load, and how it retries and sees a failover."""

import json
from pathlib import Path

import pytest
from tests.run_builder import RunScript, build_run

from brownout.measure.driver import Driver, driver_of

MONGODB = {
    "client": "go.mongodb.org/mongo-driver/v2 2.9.3", "hosts": ["127.0.0.1:27101"],
    "driver_retries": {"orders": "off"}, "heartbeat_ms": 10000, "server_monitoring_mode": "auto",
}  # fmt: skip
AEROSPIKE = {
    "client": "github.com/aerospike/aerospike-client-go/v8 v8.5.0", "pool_size": 64,
    "driver_retries": {"a": "reads: 3 attempts in all; writes: off"}, "tend_interval_ms": 1000,
    "sleep_between_retries_ms": 1,
}  # fmt: skip


@pytest.mark.parametrize(
    ("generator", "driver"),
    [
        (
            {"driver": "mongodb", "driver_settings": MONGODB},
            Driver("go.mongodb.org/mongo-driver/v2", "2.9.3", {"orders": "off"},
                   {"heartbeat_ms": 10000, "server_monitoring_mode": "auto"}),
        ),
        (
            {"driver": "aerospike", "driver_settings": AEROSPIKE},
            Driver("github.com/aerospike/aerospike-client-go/v8", "v8.5.0",
                   {"a": "reads: 3 attempts in all; writes: off"},
                   {"sleep_between_retries_ms": 1, "tend_interval_ms": 1000}),
        ),
        (
            {"driver": "scripted", "driver_settings": {"retries": "none", "driver_retries": "no"}},
            Driver("scripted", None, {}, {}),
        ),
        ({"driver": "mongodb"}, Driver("mongodb", None, {}, {})),
        ({}, None),
    ],
)  # fmt: skip
def test_a_driver_is_known_by_what_the_generator_says_of_it(
    generator: dict[str, object], driver: Driver | None
) -> None:
    assert driver_of(generator) == driver


def test_a_run_says_which_driver_made_its_load(tmp_path: Path) -> None:
    impact = json.loads((build_run(tmp_path, RunScript(rate=100)) / "impact.json").read_text())
    assert impact["driver"] == {
        "name": "go.mongodb.org/mongo-driver/v2", "version": "2.9.3",
        "retries": {"app": "off", "orders": "off"}, "settings": {"heartbeat_ms": 10000},
    }  # fmt: skip
