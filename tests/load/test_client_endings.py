"""How a ready client says that an operation ended, by the error that its driver raised."""

import asyncio
import importlib.util
import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from psycopg import OperationalError
from psycopg.errors import lookup
from psycopg_pool import PoolTimeout, TooManyRequests
from pymongo import errors
from redis import exceptions as redis

CLIENTS = Path(__file__).parents[2] / "infra" / "clients"
READ, WRITE, UNSENT = {"do": "read", "sent": True}, {"do": "write", "sent": True}, {"do": "write"}


def client(name: str) -> ModuleType:
    """Load a ready client, which does not start to serve."""
    spec = importlib.util.spec_from_file_location(f"ready_{name}", CLIENTS / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("request_", "error", "end", "cause"),
    [
        (WRITE, errors.WriteConcernError("", 64), "in_doubt", "quorum-unavailable"),
        (WRITE, errors.WriteConcernError("", 189), "in_doubt", "not-primary"),
        (WRITE, errors.WriteConcernError("", 10107), "in_doubt", "not-primary"),
        (WRITE, errors.NotPrimaryError("", {"code": 10107}), "failed", "not-primary"),
        (WRITE, errors.NotPrimaryError("", {"code": 13435}), "failed", "not-primary"),
        (WRITE, errors.NotPrimaryError("", {"code": 189}), "in_doubt", "not-primary"),
        (WRITE, errors.NotPrimaryError("", {"code": 11602}), "in_doubt", "not-primary"),
        (READ, errors.NotPrimaryError("", {"code": 11602}), "failed", "not-primary"),
        (WRITE, errors.OperationFailure("", 10107), "failed", "not-primary"),
        (WRITE, errors.OperationFailure("", 13), "failed", None),
        (WRITE, errors.AutoReconnect(""), "in_doubt", "connection-reset"),
        (READ, errors.AutoReconnect(""), "failed", "connection-reset"),
        (READ, errors.NetworkTimeout(""), "failed", "client-timeout-read"),
        (WRITE, errors.WaitQueueTimeoutError(""), "failed", "pool-exhausted"),
    ],
)
def test_the_client_of_mongodb_says_how_an_operation_ended(
    request_: dict[str, Any], error: Exception, end: str, cause: str | None
) -> None:
    answer = client("mongodb").ended(request_, error)
    assert (answer["end"], answer.get("cause")) == (end, cause)


def test_the_client_of_mongodb_reports_the_code_of_a_server_that_is_not_primary() -> None:
    error = errors.NotPrimaryError("", {"code": 10107})
    assert client("mongodb").ended(WRITE, error)["code"] == "10107"


@pytest.mark.parametrize(
    ("request_", "error", "end", "cause"),
    [
        (WRITE, lookup("57P01")(), "in_doubt", "no-node"),
        (READ, lookup("57P01")(), "failed", "no-node"),
        (UNSENT, lookup("57P03")(), "failed", "no-node"),
        (WRITE, lookup("25006")(), "failed", "not-primary"),
        (WRITE, lookup("40001")(), "failed", "key-busy"),
        (WRITE, lookup("22P02")(), "failed", None),
        (WRITE, lookup("40003")(), "in_doubt", None),  # statement completion unknown
        (WRITE, OperationalError("the connection is lost"), "in_doubt", "connection-reset"),
        (READ, OperationalError("the connection is lost"), "failed", "connection-reset"),
        (WRITE, OSError("broken pipe"), "in_doubt", "connection-reset"),
        (READ, OSError("broken pipe"), "failed", "connection-reset"),
        (UNSENT, PoolTimeout(), "failed", "pool-exhausted"),
        (UNSENT, TooManyRequests(), "failed", "pool-exhausted"),
        (UNSENT, OSError("no route"), "failed", None),
    ],
)
def test_the_client_of_psycopg_says_how_an_operation_ended(
    request_: dict[str, Any], error: Exception, end: str, cause: str | None
) -> None:
    answer = client("postgresql").ended(request_, error)
    assert (answer["end"], answer.get("cause")) == (end, cause)


@pytest.mark.parametrize(
    ("request_", "name", "end", "cause"),
    [
        (WRITE, "AdminShutdownError", "in_doubt", "no-node"),
        (READ, "AdminShutdownError", "failed", "no-node"),
        (WRITE, "ReadOnlySQLTransactionError", "failed", "not-primary"),
        (WRITE, "SerializationError", "failed", "key-busy"),
        (WRITE, "StatementCompletionUnknownError", "in_doubt", None),
        (WRITE, "ConnectionDoesNotExistError", "in_doubt", "connection-reset"),
        (WRITE, "InterfaceError", "in_doubt", None),
        (UNSENT, "CannotConnectNowError", "failed", "no-node"),
    ],
)
def test_the_client_of_sqlalchemy_says_how_an_operation_ended(
    request_: dict[str, Any], name: str, end: str, cause: str | None
) -> None:
    error = getattr(pytest.importorskip("asyncpg"), name)("")
    answer = client("sqlalchemy_postgresql").ended(request_, error)
    assert (answer["end"], answer.get("cause")) == (end, cause)


@pytest.mark.parametrize(
    ("request_", "error", "end", "cause", "code"),
    [
        (
            WRITE,
            redis.ReadOnlyError("", status_code="READONLY"),
            "failed",
            "not-primary",
            "READONLY",
        ),
        (WRITE, redis.ClusterDownError(""), "failed", None, "ClusterDownError"),
        (WRITE, redis.BusyLoadingError("", status_code="LOADING"), "failed", "no-node", "LOADING"),
        (WRITE, redis.ResponseError("ERR no such command"), "failed", None, "ERR"),
        (WRITE, redis.MaxConnectionsError(), "failed", "pool-exhausted", "MaxConnectionsError"),
        (WRITE, redis.ConnectionError(), "in_doubt", "connection-reset", "ConnectionError"),
        (READ, redis.ConnectionError(), "failed", "connection-reset", "ConnectionError"),
        (
            READ,
            redis.ConnectionError("Error 111 connecting to a:1. Connect call failed"),
            "failed",
            "connect-refused",
            "ConnectionError",
        ),
        (WRITE, redis.TimeoutError(), "in_doubt", "client-timeout-read", "TimeoutError"),
    ],
)
def test_the_client_of_redis_says_how_an_operation_ended(
    request_: dict[str, Any], error: Exception, end: str, cause: str | None, code: str
) -> None:
    answer = client("redis_cluster").ended(request_, error)
    assert (answer["end"], answer.get("cause"), answer["code"]) == (end, cause, code)


#: Take the places of drivers for Node: a write fails with the error that its value names.
PG = """
class DatabaseError extends Error {}
class Pool {
  on() {}
  async connect() { return this; }
  release() {}
  async query(text, values) {
    if (!values || values.length < 4) return { rows: [{ standby: false }] };
    const [kind, code] = values[3].split(" ");
    throw Object.assign(kind === "server" ? new DatabaseError() : new Error(), { code });
  }
}
module.exports = { DatabaseError, Pool };
"""
IOREDIS = """
class ReplyError extends Error {}
class Cluster {
  on() {}
  async connect() {}
  async eval(script, keys, key, writer, sequence, value) {
    const [kind, ...words] = value.split(" ");
    throw kind === "server" ? new ReplyError(words.join(" ")) : new Error(words.join(" "));
  }
}
class Redis {}
module.exports = { Cluster, Redis, ReplyError };
"""
MONGODB = """
class MongoServerError extends Error {}
class MongoWriteConcernError extends MongoServerError {}
class MongoServerSelectionError extends Error {}
class MongoNetworkError extends Error {}
class MongoNetworkTimeoutError extends MongoNetworkError {}
const records = {
  async replaceOne(filter, { value }) {
    const [kind, code] = value.split(" ");
    if (kind === "pool") throw Object.assign(new Error(), { name: "MongoWaitQueueTimeoutError" });
    if (kind === "select") throw new MongoServerSelectionError();
    if (kind === "network") throw new MongoNetworkError("", { cause: code && { code } });
    if (kind === "slow") throw new MongoNetworkTimeoutError();
    if (kind === "driver") throw new Error();
    const error = kind === "server" ? new MongoServerError() : new MongoWriteConcernError();
    throw Object.assign(error, { code: Number(code) });
  },
};
class MongoClient {
  db() { return { command: async () => {}, collection: () => records }; }
}
module.exports = {
  MongoClient, MongoNetworkError, MongoNetworkTimeoutError,
  MongoServerError, MongoServerSelectionError, MongoWriteConcernError,
};
"""
NODE = {
    "pg": [
        ("server 25006", "failed", "not-primary"),
        ("server 40001", "failed", "key-busy"),
        ("server 40003", "in_doubt", None),
        ("server 57P01", "in_doubt", "no-node"),
        ("node EPIPE", "in_doubt", "connection-reset"),
        ("node ECONNRESET", "in_doubt", "connection-reset"),
        ("node ENOENT", "in_doubt", None),
    ],
    "ioredis": [
        ("server READONLY You can't write", "failed", "not-primary"),
        ("server CLUSTERDOWN The cluster is down", "failed", "quorum-unavailable"),
        ("server ERR wrong type", "failed", None),
        ("node Connection is closed.", "in_doubt", "connection-reset"),
        (
            "node Too many Cluster redirections. Last error: ReplyError: MOVED 992 a:1",
            "in_doubt",
            "not-primary",
        ),
        ("node of another kind", "in_doubt", None),
    ],
    "mongodb": [
        ("server 10107", "failed", "not-primary"),
        ("server 13435", "failed", "not-primary"),
        ("server 189", "in_doubt", "not-primary"),
        ("server 11602", "in_doubt", "not-primary"),
        ("server 13", "failed", None),
        ("concern 64", "in_doubt", "quorum-unavailable"),
        ("concern 10107", "in_doubt", "not-primary"),
        ("pool", "failed", "pool-exhausted"),
        ("select", "failed", "no-node"),
        ("network", "in_doubt", "connection-reset"),
        ("network ECONNREFUSED", "in_doubt", "connect-refused"),
        ("slow", "in_doubt", "client-timeout-read"),
        ("driver", "in_doubt", None),
    ],
}


@pytest.mark.parametrize(
    ("driver", "module"), [("pg", PG), ("ioredis", IOREDIS), ("mongodb", MONGODB)]
)
def test_a_client_for_node_says_how_a_write_ended(driver: str, module: str, tmp_path: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip(f"NOT TESTED: the client for {driver}: node is not on PATH")
    package = tmp_path / "node_modules" / driver
    package.mkdir(parents=True)
    (package / "index.js").write_text(module)
    program = shutil.copy(CLIENTS / f"node_{driver}.mjs", tmp_path)
    shutil.copy(CLIENTS / "protocol.mjs", tmp_path)
    connection = {"uri": "x://a:1", "username": "", "password": ""}
    opening = {"do": "open", "namespace": "n", "connection": connection, "options": {}}
    write = {"do": "write", "key": "k", "writer": "w", "sequence": 1, "deadline_ms": 20_000}
    writes = [{**write, "id": n, "value": value} for n, (value, *_) in enumerate(NODE[driver])]
    ran = subprocess.run(
        ["node", program],
        input="".join(json.dumps(line) + "\n" for line in [opening, *writes]),
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    answers = {a["id"]: a for a in map(json.loads, ran.stdout.splitlines()) if "id" in a}
    ended = [(answers[n]["end"], answers[n].get("cause")) for n in range(len(writes))]
    assert ended == [(end, cause) for _, end, cause in NODE[driver]], ran.stderr


def test_a_read_of_psycopg_that_passes_its_deadline_failed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    psycopg = client("postgresql")

    async def hang(_: object, request: dict[str, Any]) -> None:
        request["sent"] = True
        await asyncio.sleep(60)

    for do in ("read", "write"):
        asyncio.run(psycopg.do(hang, None, {"id": 1, "do": do, "deadline_ms": 1}))
    ends = [json.loads(line)["end"] for line in capsys.readouterr().out.splitlines()]
    assert ends == ["failed", "in_doubt"]


@pytest.mark.parametrize(
    ("name", "given"), [("postgresql", (None,)), ("sqlalchemy_postgresql", ())]
)
def test_a_write_that_still_waits_for_a_connection_at_its_deadline_failed(
    name: str, given: tuple[None, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    async def wait(*_: object) -> None:
        await asyncio.sleep(60)

    request = {"id": 1, "do": "write", "deadline_ms": 1}
    asyncio.run(client(name).do(wait, *given, request))
    answer = json.loads(capsys.readouterr().out)
    assert (answer["end"], answer["cause"]) == ("failed", "pool-exhausted")


#: PostgreSQL's answer to a login that it accepts.
VERSION = b"S\x00\x00\x00\x18server_version\x0016.0\x00"
LET_IN = b"R\x00\x00\x00\x08\x00\x00\x00\x00" + VERSION + b"Z\x00\x00\x00\x05I"


@pytest.fixture
def silent() -> Iterator[int]:
    """A server that lets a client of PostgreSQL in and then answers nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        program = (
            "import socket, sys, time\n"
            "server = socket.socket(fileno=int(sys.argv[1]))\n"
            "held = []\n"
            "while True:\n"
            "    each, _ = server.accept()\n"
            "    held.append(each)\n"
            "    each.recv(9999)\n"
            "    each.sendall(b'N')\n"
            "    each.recv(9999)\n"
            f"    each.sendall({LET_IN!r})\n"
        )
        descriptor = server.fileno()
        with subprocess.Popen(
            [sys.executable, "-c", program, str(descriptor)], pass_fds=[descriptor]
        ) as process:
            yield server.getsockname()[1]
            process.kill()


#: It connects to the address that it is given, and prints whether that was closed.
CONNECTS = """
import json, socket, sys
from urllib.parse import urlsplit
at = urlsplit(json.loads(sys.stdin.readline())["connection"]["uri"])
with socket.create_connection((at.hostname, at.port), timeout=5) as entry:
    print("closed" if entry.recv(1) == b"" else "data")
"""


def test_the_entry_closes_connections_while_no_node_takes_writes(silent: int) -> None:
    pytest.importorskip("asyncpg")
    connection = {"uri": f"postgresql://127.0.0.1:{silent}", "username": "a", "password": "b"}
    ran = subprocess.run(
        [sys.executable, CLIENTS / "entry.py", sys.executable, "-c", CONNECTS],
        input=json.dumps({"do": "open", "connection": connection}) + "\n",
        capture_output=True, text=True, timeout=20, check=False,
    )  # fmt: skip
    assert ran.stdout == "closed\n", ran.stderr
