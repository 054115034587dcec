"""A cluster of which Atlas could do nothing is refused before there is any load, in one error."""

from typing import Any

import pytest
from tests.atlas.conftest import api, spec_of
from tests.atlas.recorded_api import Api, Recorded, error
from tests.atlas.test_client import OK, ORDERS, OUTAGE, SPECS, Make

from brownout.atlas.errors import AtlasError
from brownout.base.errors import BrownoutError, Refused, Unsupported
from brownout.faults.atlas.cluster_state import check_free
from brownout.inventory.model import Cluster

__all__ = ["api", "spec_of"]  # fixtures

APPLIED, PENDING = (Recorded(200, {"changeStatus": word}) for word in ("APPLIED", "PENDING"))
PLAIN = {
    "name": "orders",
    "database": "mongodb",
    "environment": "test",
    "nodes": [{"name": "n1", "address": "127.0.0.1:27017"}],
}
NONE = error(404, "CLUSTER_OUTAGE_SIMULATION_NOT_FOUND", "There is none.")


def orders(**change: Any) -> Recorded:
    return Recorded(200, {**ORDERS, **change})


def tier(name: str) -> list[dict[str, Any]]:
    (spec,) = SPECS
    nodes = {"instanceSize": name, "nodeCount": 3}
    region = {"providerName": "TENANT", "regionName": "US_EAST_1", "electableSpecs": nodes}
    return [{**spec, "regionConfigs": [region]}]


def at(url: str, spec_of: Make) -> Cluster:
    return Cluster.model_validate({**PLAIN, "atlas": spec_of(url)})


def refused(api: Api, spec_of: Make, *answers: Recorded) -> BrownoutError:
    """What is said of a cluster that Atlas answers these about; nothing is asked to be done."""
    api.answer(*answers)
    with pytest.raises(BrownoutError) as caught:
        check_free(at(api.url, spec_of), ["outage"])
    assert {asked.split()[0] for asked in api.asked} == {"GET"}
    return caught.value


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ((orders(replicationSpecs=tier("M0")), APPLIED, NONE), "M0, wanted M10"),
        ((orders(paused=True), APPLIED, NONE), "paused"),
        ((OK, PENDING, NONE), "IDLE"),
        ((OK, APPLIED, Recorded(200, OUTAGE)), "SIMULATING"),
    ],
    ids=["shared", "paused", "changing", "outage"],
)
def test_a_cluster_in_a_bad_state_is_refused(
    api: Api, spec_of: Make, answers: tuple[Recorded, ...], words: str
) -> None:
    found = refused(api, spec_of, *answers)

    assert isinstance(found, Refused)
    assert str(found).startswith("nothing is touched: ")
    assert words in str(found)


@pytest.mark.parametrize("code", ["GROUP_NOT_FOUND", "CLUSTER_NOT_FOUND"])
def test_an_unknown_group_or_cluster_is_said_as_such(api: Api, spec_of: Make, code: str) -> None:
    found = refused(api, spec_of, error(404, code, "There is none of that name."))

    assert isinstance(found, AtlasError)
    assert code in str(found)
    assert "are `atlas.project` and `atlas.cluster` right" in str(found)


def test_a_good_cluster_is_not_refused_and_without_need_nobody_asks(
    api: Api, spec_of: Make
) -> None:
    check_free(at(api.url, spec_of), ["kill"])
    assert api.asked == []

    api.answer(OK, APPLIED, NONE)
    check_free(at(api.url, spec_of), ["resize"])
    assert len(api.asked) == 3


def test_a_cluster_that_atlas_does_not_run_is_said_as_such() -> None:
    with pytest.raises(Unsupported, match="how Atlas is asked"):
        check_free(Cluster.model_validate(PLAIN), ["pause_cluster"])
