"""The lab of Couchbase: a mock, which says so."""

import pytest
from pydantic import SecretStr
from tests.wording import naming

from brownout.base.errors import ClusterError
from brownout.databases.adapter import adapter_for
from brownout.databases.couchbase.adapter import CouchbaseAdapter
from brownout.infra import lab
from brownout.inventory import inventory, labs
from brownout.inventory.connection import Auth
from brownout.inventory.model import Cluster
from brownout.machine.host import host_for
from brownout.session.record import cluster_of

pytestmark = [pytest.mark.matrix, pytest.mark.timeout(900)]


def test_a_lab_is_whole_and_says_that_it_is_a_mock(lab_couchbase: Cluster) -> None:
    assert lab_couchbase.lab is not None
    assert lab_couchbase.lab.stand_in
    assert inventory.load(lab_couchbase.name).lab == lab_couchbase.lab
    with CouchbaseAdapter(lab_couchbase) as adapter:
        adapter.ready()
        assert adapter.engine() == "CouchbaseMock 1.5.27 (a mock)"
        told = cluster_of(lab_couchbase, adapter)  # as run.json, and so impact.json, have it
        assert (told["stand_in"], told["engine"]) == (True, adapter.engine())
        (member,) = adapter.members()
        assert (member.state, member.role) == ("healthy", "primary")
        hosts = lab_couchbase.connection.hosts
        assert set(member.detail["nodes"]) == set(member.detail["active_vbuckets"]) == set(hosts)
        assert sum(member.detail["active_vbuckets"].values()) == 64


def test_its_rest_api_wants_the_password_and_only_its_own_files_have_it(
    lab_couchbase: Cluster,
) -> None:
    with CouchbaseAdapter(lab_couchbase) as adapter:
        password = adapter.load_spec()["connection"]["password"]
    files = [path for path in labs.directory(lab_couchbase.name).rglob("*") if path.is_file()]
    assert {path.name for path in files if password in path.read_text()} == {"password", "mock.js"}
    wrong = Auth(username="brownout", password=SecretStr("wr0ng"))
    way = lab_couchbase.connection.model_copy(update={"auth": wrong})
    stranger = adapter_for(lab_couchbase.model_copy(update={"connection": way}))
    with pytest.raises(ClusterError, match=naming(401, "connection.auth")):
        stranger.ready()
    stranger.close()


def test_a_mock_that_died_is_made_anew(lab_couchbase: Cluster) -> None:
    (node,) = lab_couchbase.nodes
    host_for(node).stop("kill")
    assert lab.status(lab_couchbase.name).condition == "crashed"
    again = lab.up(lab_couchbase.name)
    with CouchbaseAdapter(again) as adapter:
        adapter.ready()
