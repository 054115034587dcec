"""What a member refuses is told with the server's own number of it; silence is told as silence."""

import socket

import pytest

from brownout.base.errors import NoAnswer
from brownout.databases.adapter import adapter_for
from brownout.databases.mongodb.access import access
from brownout.databases.mongodb.link import CommandFailed, Link
from brownout.inventory.model import Cluster

NOT_WRITABLE_PRIMARY, NO_SUCH_COMMAND = 10107, 59


def test_a_refusal_has_the_servers_number_also_where_the_driver_keeps_it_elsewhere(
    lab_mongodb: Cluster,
) -> None:
    adapter = adapter_for(lab_mongodb)
    secondary = adapter.targets("secondary", 1)[0]
    adapter.close()
    link = Link(secondary, access(lab_mongodb), lab_mongodb.connection.timeout_s)
    try:
        with pytest.raises(CommandFailed, match="only supported on primary") as refused:
            link.ask("replSetGetConfig", commitmentStatus=True)
        assert refused.value.code == NOT_WRITABLE_PRIMARY
        with pytest.raises(CommandFailed, match="no such command") as unknown:
            link.ask("thereIsNoSuchCommand")
        assert unknown.value.code == NO_SUCH_COMMAND
    finally:
        link.close()


def test_a_member_that_says_nothing_gave_no_answer_in_time_also_to_a_new_connection(
    lab_mongodb: Cluster,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        node = lab_mongodb.nodes[0].model_copy(update={"address": address})
        link = Link(node, access(lab_mongodb), timeout_s=0.3)
        for _ in range(2):
            with pytest.raises(NoAnswer, match=f"`{node.name}` .*: no answer in time"):
                link.ask("ping")
