"""An application's redis-py beside the load: what it does is where it belongs, and goes again."""

from collections.abc import Iterator
from typing import Any

import pytest
from redis.exceptions import NoPermissionError, ResponseError

from brownout.base.errors import ConfigurationError
from brownout.databases.adapter import adapter_for
from brownout.databases.canary import NotFound, Target
from brownout.databases.redis.canary import RedisCanary
from brownout.inventory.canary import Policies
from brownout.inventory.model import Cluster

NAMESPACE = "brownout-canary-test"
POLICIES: Policies = {
    "socket_timeout": 0.5,
    "load_balancing_strategy": "round_robin",
    "retry": {"retries": 3, "base": 0.1},
}


@pytest.fixture
def client(lab_redis: Cluster) -> Iterator[RedisCanary]:
    adapter = adapter_for(lab_redis)
    spec = adapter.load_spec()
    adapter.close()
    made = RedisCanary(Target(spec["connection"], spec["options"], NAMESPACE, POLICIES))
    try:
        yield made
    finally:
        made.close()


def test_it_writes_and_reads_on_every_shard_and_removes_only_its_own_keys(
    client: RedisCanary,
) -> None:
    redis: Any = client._client
    others = f"{NAMESPACE}/data/k1"
    redis.set(others, "somebody else's")
    try:
        for key in range(64):
            client.write(key, 1)
            client.write(key, 2)
            client.read(key)
        stored = [redis.get(f"{NAMESPACE}/canary/{key}") for key in range(64)]
        with pytest.raises(NotFound):
            client.read(64)
        client.clean()
        left = redis.keys(f"{NAMESPACE}/*", target_nodes=redis.PRIMARIES)
    finally:
        redis.unlink(others)
    assert stored == [b"2"] * 64
    assert left == [others.encode()]


def test_it_says_which_policies_are_in_effect(client: RedisCanary) -> None:
    said = client.policies()
    assert said["socket_timeout"] == 0.5
    assert said["load_balancing_strategy"] == "round_robin"
    assert said["retry"] == {"retries": 3, "base": 0.1}
    assert (said["socket_connect_timeout"], said["reinitialize_steps"]) == (5, 5)
    redis: Any = client._client
    connection = redis.get_primaries()[0].redis_connection.connection_pool.make_connection()
    assert (connection.socket_timeout, connection.socket_connect_timeout) == (0.5, 5)
    assert redis.retry.get_retries() == 3


def test_the_servers_own_word_for_an_error_is_kept() -> None:
    assert RedisCanary.code(ResponseError("OOM command not allowed")) == "OOM"
    assert RedisCanary.code(NoPermissionError("this user has no permissions")) == ""
    assert RedisCanary.code(TimeoutError("TIME is over")) == ""


def test_every_policy_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(ConfigurationError) as told:
        RedisCanary.check({"socket_timeout": 0, "retry": {"base": 1}, "password": "hunter2"})
    assert len(told.value.problems) == 3
    assert "hunter2" not in str(told.value)
