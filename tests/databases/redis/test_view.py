"""What one node says of itself: which server it is."""

import pytest

from brownout.databases.redis.view import View, parse_info

REDIS = "# Server\r\nredis_version:7.0.15\r\nredis_mode:cluster\r\n"
#: Valkey keeps a `redis_version` for clients that look at it.
VALKEY = (
    "# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.0.1\r\n"
    "server_mode:cluster\r\n"
)


@pytest.mark.parametrize(
    ("info", "engine"), [(REDIS, "redis 7.0.15"), (VALKEY, "valkey 8.0.1"), ("", "")]
)
def test_a_server_is_called_what_it_is_and_not_what_it_is_compatible_with(
    info: str, engine: str
) -> None:
    assert View("n1", "127.0.0.1:7000", parse_info(info)).engine == engine
