"""The generator's specification."""

from pathlib import Path
from typing import Any

import pytest

from brownout.errors import ConfigurationError
from brownout.load import workload as workloads


def spec(overrides: str = "", driver: str = "mongodb", **options: Any) -> dict[str, Any]:
    return workloads.load("lab", overrides).to_spec(
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


def test_the_workloads_own_seed_wins() -> None:
    assert spec("seed=7")["seed"] == 7


def test_the_workloads_options_win_over_the_inventorys() -> None:
    made = spec("options.mongodb.write_concern=1", write_concern="majority", pool_size=50)
    assert made["options"] == {"write_concern": "1", "pool_size": 50}


def test_options_of_another_database_are_not_sent() -> None:
    made = spec("options.mongodb.write_concern=1", driver="scripted", anything=1)
    assert made["options"] == {"anything": 1}


def test_a_wrong_option_of_the_inventory_is_named_there() -> None:
    with pytest.raises(ConfigurationError) as caught:
        spec(pool_sise=50)
    assert str(caught.value).startswith("inventory: connection.options.pool_sise: unknown setting")


def test_the_record_of_a_workload_holds_no_secret() -> None:
    assert "s3cr3t" not in str(workloads.load("lab").public())
