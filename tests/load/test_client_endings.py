"""How a ready client says that an operation ended, by the error that its driver raised."""

import asyncio
import importlib.util
import json
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
        (WRITE, errors.WriteConcernError("", 64), "in_doubt", None),
        (WRITE, errors.WriteConcernError("", 189), "in_doubt", None),
        (WRITE, errors.WriteConcernError("", 10107), "in_doubt", None),
        (WRITE, errors.NotPrimaryError("", {"code": 10107}), "failed", "not-primary"),
        (WRITE, errors.NotPrimaryError("", {"code": 13435}), "failed", "not-primary"),
        (WRITE, errors.NotPrimaryError("", {"code": 189}), "in_doubt", None),
        (WRITE, errors.NotPrimaryError("", {"code": 11602}), "in_doubt", None),
        (READ, errors.NotPrimaryError("", {"code": 11602}), "failed", None),
        (WRITE, errors.OperationFailure("", 10107), "failed", "not-primary"),
        (WRITE, errors.OperationFailure("", 13), "failed", None),
        (WRITE, errors.AutoReconnect(""), "in_doubt", None),
        (READ, errors.AutoReconnect(""), "failed", None),
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
        (WRITE, lookup("57P01")(), "in_doubt", None),
        (READ, lookup("57P01")(), "failed", None),
        (UNSENT, lookup("57P03")(), "failed", None),
        (WRITE, lookup("25006")(), "failed", "not-primary"),
        (WRITE, lookup("40001")(), "failed", None),
        (WRITE, OperationalError("the connection is lost"), "in_doubt", None),
        (READ, OperationalError("the connection is lost"), "failed", None),
        (WRITE, OSError("broken pipe"), "in_doubt", None),
        (READ, OSError("broken pipe"), "failed", None),
        (UNSENT, PoolTimeout(), "failed", "pool-exhausted"),
        (UNSENT, TooManyRequests(), "failed", None),
        (UNSENT, OSError("no route"), "failed", None),
    ],
)
def test_the_client_of_psycopg_says_how_an_operation_ended(
    request_: dict[str, Any], error: Exception, end: str, cause: str | None
) -> None:
    answer = client("postgresql").ended(request_, error)
    assert (answer["end"], answer.get("cause")) == (end, cause)


def test_a_read_of_psycopg_that_passes_its_deadline_failed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    psycopg = client("postgresql")

    async def hang(_: object, request: dict[str, Any]) -> None:
        request["sent"] = True
        await asyncio.sleep(60)

    monkeypatch.setattr(psycopg, "work", hang)
    for do in ("read", "write"):
        asyncio.run(psycopg.do(None, {"id": 1, "do": do, "deadline_ms": 1}))
    ends = [json.loads(line)["end"] for line in capsys.readouterr().out.splitlines()]
    assert ends == ["failed", "in_doubt"]


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
