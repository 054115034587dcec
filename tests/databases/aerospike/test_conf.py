"""What a node's own configuration says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brownout.databases.aerospike.conf import heartbeat_endpoint, namespace_setting, settings

TEXT = """
network {
    service { # a comment {
        address any
        port 3000
    }
    heartbeat {
        mode mesh
        address 10.0.0.5   # its own
        port 3002
    }
}
namespace test {
    replication-factor 3
    storage-engine device {
        file /a /b
    }
}
namespace other {
}
"""


def test_a_setting_has_its_values_and_the_contexts_that_it_stands_in() -> None:
    (file,) = [one for one in settings(TEXT) if one.name == "file"]

    assert file.values == ("/a", "/b")
    assert file.contexts == ("namespace test", "storage-engine device")
    assert file.context == "storage-engine"


def test_heartbeats_have_their_own_address_or_the_nodes() -> None:
    assert heartbeat_endpoint(TEXT, "db5") == ("10.0.0.5", 3002)
    assert heartbeat_endpoint(TEXT.replace("10.0.0.5", "any"), "db5") == ("db5", 3002)


@pytest.mark.parametrize("text", ["", TEXT.replace("port 3002", ""), TEXT.replace("3002", "x")])
def test_without_a_port_there_is_no_endpoint(text: str) -> None:
    assert heartbeat_endpoint(text, "db5") is None


def test_a_namespaces_setting_is_not_anothers() -> None:
    assert namespace_setting(TEXT, "test", "replication-factor") == "3"
    assert namespace_setting(TEXT, "other", "replication-factor") is None


@given(st.text(alphabet="ab {}#\n3", max_size=60))
def test_any_text_is_read(text: str) -> None:
    assert heartbeat_endpoint(text, "db5") is None
    assert all(one.name.split() == [one.name] for one in settings(text))
