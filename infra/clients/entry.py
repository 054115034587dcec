"""An entry in front of a client for PostgreSQL: one address that leads to the primary.

    python3 entry.py python3 sqlalchemy_postgresql.py

It stands for a Service or a proxy whose health check asks each node for its role, with the figures
of the configuration that Patroni has for HAProxy: every 3 s, and a node is dropped after 3 failed
checks. Without a primary it refuses connections. Those that are open stay where they are. All
entries of a machine look at the same moments, so that the clients behind them can be compared.

    python3 entry.py --name java -Djdk.net.hosts.file={hosts} …

stands for a name in the DNS that leads to the primary: each node has an address of its own
(127.0.0.2, …), and `{hosts}` is a file of hosts in which the name has one of these.
"""

import asyncio
import functools
import json
import os
import shutil
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg

EVERY_S, FALL = 3, 3
NAME = "primary.brownout"


async def primary(nodes, login):
    """Return the node that takes writes, or None."""
    for host, port in nodes:
        with suppress(OSError, asyncpg.PostgresError, asyncio.TimeoutError):
            connection = await asyncpg.connect(
                host=host, port=port, timeout=2, command_timeout=2, **login
            )
            try:
                standby = await connection.fetchval("SELECT pg_is_in_recovery()")
            finally:
                connection.terminate()  # `close` would wait for a server that hangs
            if not standby:
                return host, port
    return None


async def pump(reader, writer):
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


async def main():
    opening = json.loads(sys.stdin.buffer.raw.readline())
    at = opening["connection"]
    parts = [urlsplit(f"//{each}") for each in urlsplit(at["uri"]).netloc.split(",")]
    nodes = [(each.hostname, each.port or 5432) for each in parts]
    login = {"user": at["username"], "password": at["password"]}
    login["database"] = at.get("database") or "postgres"
    leads_to = await primary(nodes, login)

    async def forward(reader, writer, to=None):
        to = to or leads_to
        if to is None:
            writer.close()
            return
        try:
            there_reader, there_writer = await asyncio.open_connection(*to)
        except OSError:
            writer.close()
            return
        await asyncio.gather(pump(reader, there_writer), pump(there_reader, writer))

    async def look():
        nonlocal leads_to
        failed = 0
        while True:
            # 0.1 s on both sides, since a sleep may end a moment too early
            await asyncio.sleep(EVERY_S - (time.time() + 0.1) % EVERY_S + 0.1)
            now = await primary(nodes, login)
            failed = 0 if now == leads_to else failed + 1
            if failed >= FALL or (now and leads_to is None):
                leads_to, failed = now, 0
                write_hosts()
                print("entry: leads to", *(now or ["no node"]), file=sys.stderr, flush=True)

    def write_hosts():
        if leads_to:  # without a primary, a name keeps its address
            hosts.with_suffix(".new").write_text(f"{addresses[nodes.index(leads_to)]} {NAME}\n")
            hosts.with_suffix(".new").replace(hosts)

    host, command = "127.0.0.1", sys.argv[1:]
    addresses = [f"127.0.0.{n}" for n, _ in enumerate(nodes, 2)]
    hosts = Path(tempfile.mkdtemp(prefix="entry-")) / "hosts"
    server = await asyncio.start_server(forward, host, 0)
    port = server.sockets[0].getsockname()[1]
    if command[0] == "--name":
        for address, node in zip(addresses, nodes, strict=True):
            await asyncio.start_server(functools.partial(forward, to=node), address, port)
        host, command = NAME, [each.replace("{hosts}", str(hosts)) for each in command[1:]]
    write_hosts()
    looking = asyncio.create_task(look())
    at["uri"] = f"postgresql://{host}:{port}"
    ours, theirs = os.pipe()  # the opening is rewritten, the rest of stdin is passed on as it is
    client = await asyncio.create_subprocess_exec(*command, stdin=ours)
    os.close(ours)
    os.write(theirs, json.dumps(opening).encode() + b"\n")
    passing = asyncio.create_task(asyncio.to_thread(pass_on, theirs))
    code = await client.wait()
    looking.cancel()
    passing.cancel()
    shutil.rmtree(hosts.parent)
    os._exit(code)  # a thread may still read stdin


def pass_on(to):
    with suppress(OSError):
        while data := os.read(0, 65536):
            os.write(to, data)
    os.close(to)


asyncio.run(main())
