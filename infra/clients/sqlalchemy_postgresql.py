"""A client for a stream on PostgreSQL, by SQLAlchemy: the protocol of docs/client.md.

Options: `driver` is asyncpg, or psycopg for the synchronous engine with a thread for each
operation; `connect_args` go to that driver; `invalidate_on` is a list of SQLSTATEs after which the
pool is emptied; everything else (`pool_size`, `pool_pre_ping`, …) goes to SQLAlchemy's engine.
"""

import asyncio
import json
import os
import ssl
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

from sqlalchemy import create_engine, event, exc, text
from sqlalchemy.ext.asyncio import create_async_engine

TABLE = "brownout_client"
COLUMNS = "(key text PRIMARY KEY, writer text, sequence bigint, value text)"
MAKE = f"INSERT INTO {TABLE} VALUES (:key, :writer, :sequence, :value) ON CONFLICT"
SET = "SET writer = :writer, sequence = :sequence, value = :value"
READ = text(f"SELECT value FROM {TABLE} WHERE key = :key")
WRITES = {
    "any": text(f"{MAKE} (key) DO UPDATE {SET}"),
    "missing": text(f"{MAKE} DO NOTHING"),
    "first": text(
        f"UPDATE {TABLE} {SET} WHERE key = :key AND writer = :writer"
        " AND sequence BETWEEN :first AND :last"
    ),
}

#: Why the server did not do what was asked, by its SQLSTATE.
CAUSES = {
    "25006": "not-primary",
    "40001": "key-busy",
    "40P01": "key-busy",
    "53300": "overloaded",
    "57014": "server-timeout",
    "57P01": "no-node",
    "57P03": "no-node",
}
#: SQLSTATEs of a server that may have done what was asked: shut down, cut off, unknown to itself.
UNKNOWN = ("57", "08", "40003")

#: Of the deadline, since an answer takes a moment.
EARLY = 0.98


def work(connection, r):
    if r["do"] == "make":
        return connection.execute(text(f"CREATE TABLE IF NOT EXISTS {TABLE} {COLUMNS}"))
    if r.get("late"):
        return None  # its deadline passed while it waited for the connection, and nothing is sent
    r["sent"] = True
    if r["do"] == "write":
        expect = r.get("expect") or {"any": True}
        values = {k: r[k] for k in ("key", "writer", "sequence", "value")}
        if "first" in expect:
            values |= expect
        if connection.execute(WRITES[next(iter(expect))], values).rowcount:
            return {"end": "ok"}
    value = connection.execute(READ, {"key": r["key"]}).scalar()
    return {"end": "ok" if r["do"] == "read" else "refused", "value": value}


def ended(r, error):
    """Say how an operation that raised `error` ended."""
    if isinstance(error, exc.TimeoutError):
        return {"end": "failed", "cause": "pool-exhausted"}
    original = getattr(error, "orig", None) or error
    code = getattr(original, "sqlstate", None)
    # Without a code the connection broke, and what was sent may be done.
    unknown = r.get("sent") and r["do"] == "write" and (code or "57").startswith(UNKNOWN)
    answer = {"end": "in_doubt" if unknown else "failed", "code": code or type(original).__name__}
    cause = CAUSES.get(code) if code and not code.startswith("08") else cause_of(original)
    return {**answer, "cause": cause} if cause else answer


def cause_of(error):
    """Say what is wrong with the connection; None if the error does not."""
    words = str(error).lower()
    if isinstance(error, ConnectionRefusedError) or "refused" in words:
        return "connect-refused"
    if isinstance(error, TimeoutError) or "timeout expired" in words:  # of connecting
        return "client-timeout-connect"
    broken = isinstance(error, OSError) or getattr(error, "sqlstate", None)
    return "connection-reset" if broken or "clos" in words or "lost" in words else None


async def do(run, r):
    """Have `run` work on a connection of the pool, until the deadline."""
    task = asyncio.ensure_future(run(r))
    if not (await asyncio.wait({task}, timeout=EARLY * r["deadline_ms"] / 1000))[0]:
        r["late"] = True
        task.cancel()  # not awaited: it would wait for the server that hangs
        unknown = r.get("sent") and r["do"] == "write"
        cause = "client-timeout-total" if r.get("sent") else "pool-exhausted"
        answer = {"end": "in_doubt" if unknown else "failed", "cause": cause}
    else:
        answer = ended(r, error) if (error := task.exception()) else task.result()
    print(json.dumps({"id": r["id"], **answer}), flush=True)


def by_asyncpg(where, own):
    """Return the engine, and what has `work` done on one of its connections."""
    import asyncpg

    async def connect():
        return await asyncpg.connect(**where)

    engine = create_async_engine("postgresql+asyncpg://", async_creator=connect, **own)

    async def run(r):
        async with engine.begin() as connection:
            return await connection.run_sync(work, r)

    return engine.sync_engine, run


def by_psycopg(where, own):
    """The same for the synchronous engine; libpq wants its addresses as two lists."""
    import psycopg

    lists = {name: ",".join(map(str, where[name])) for name in ("host", "port")}
    where = {**where, **lists, "dbname": where["database"]}
    del where["database"]
    engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(**where), **own)
    threads = ThreadPoolExecutor(1_000)  # the pool limits, not the threads

    def in_thread(r):
        with engine.begin() as connection:
            return work(connection, r)

    async def run(r):
        return await asyncio.get_running_loop().run_in_executor(threads, in_thread, r)

    return engine, run


def encryption(tls):
    """Return the connection's `tls` for asyncpg and for psycopg, which has libpq's words."""
    if not tls.get("enabled"):
        return {"ssl": False}, {"sslmode": "disable"}
    for name in ("ca_file", "cert_file", "key_file"):
        if tls.get(name):
            Path(tls[name]).stat()  # whose error names the file, which Python's own does not
    context = ssl.create_default_context(cafile=tls.get("ca_file") or None)
    if insecure := tls.get("insecure_skip_verify"):
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if tls.get("cert_file"):
        own = tls["cert_file"], tls.get("key_file") or None, tls.get("key_passphrase") or None
        context.load_cert_chain(*own)
    words = {
        "sslmode": "require" if insecure else "verify-full",
        "sslrootcert": tls.get("ca_file") if not insecure else None,  # libpq would check it
        "sslcert": tls.get("cert_file"),
        "sslkey": tls.get("key_file"),
        "sslpassword": tls.get("key_passphrase"),
    }
    return {"ssl": context}, {name: value for name, value in words.items() if value}


async def main():
    opening = json.loads(sys.stdin.readline())
    at, options = opening["connection"], opening.get("options") or {}
    hosts = [urlsplit(f"//{each}") for each in urlsplit(at["uri"]).netloc.split(",")]
    where = {"host": [h.hostname for h in hosts], "port": [h.port or 5432 for h in hosts]}
    where |= {"user": at["username"], "password": at["password"]}
    where["database"] = at.get("database") or "postgres"
    if len(hosts) > 1:
        where["target_session_attrs"] = "read-write"  # one address is to lead to the primary
    own = dict(options)
    driver, invalidate_on = own.pop("driver", "asyncpg"), own.pop("invalidate_on", [])
    try:
        asyncpgs, libpqs = encryption(at.get("tls") or {})
        where |= asyncpgs if driver == "asyncpg" else libpqs
        where |= own.pop("connect_args", {})
        engine, run = {"asyncpg": by_asyncpg, "psycopg": by_psycopg}[driver](where, own)
        await run({"do": "make"})
    except (OSError, exc.SQLAlchemyError) as error:
        print(json.dumps({"error": str(error)}), flush=True)
        return

    @event.listens_for(engine, "handle_error")
    def invalidate(context):
        if getattr(context.original_exception, "sqlstate", None) in invalidate_on:
            context.is_disconnect = True  # the whole pool goes, as if the connection had broken

    print(json.dumps({"opened": f"sqlalchemy {driver}", "settings": options}), flush=True)
    tasks = set()
    while (line := await asyncio.to_thread(sys.stdin.readline)) and '"close"' not in line:
        tasks.add(task := asyncio.create_task(do(run, json.loads(line))))
        task.add_done_callback(tasks.discard)
    os._exit(0)  # a thread may wait for a server that hangs


if __name__ == "__main__":
    asyncio.run(main())
