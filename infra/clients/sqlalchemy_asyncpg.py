"""A client for a stream on PostgreSQL, by SQLAlchemy and asyncpg: the protocol of docs/client.md.

Options: `connect_args` go to asyncpg, `invalidate_on` is a list of SQLSTATEs after which the pool
is emptied, everything else (`pool_size`, `pool_pre_ping`, …) goes to SQLAlchemy's engine.
"""

import asyncio
import json
import sys
from urllib.parse import urlsplit

import asyncpg
from sqlalchemy import event, exc, text
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

#: SQLSTATEs of a server that may have done what was asked: shut down, cut off, unknown to itself.
UNKNOWN = ("57", "08", "40003")


async def work(engine, r):
    async with engine.begin() as connection:
        r["sent"] = True
        if r["do"] == "write":
            expect = r.get("expect") or {"any": True}
            values = {k: r[k] for k in ("key", "writer", "sequence", "value")}
            if "first" in expect:
                values |= expect
            done = await connection.execute(WRITES[next(iter(expect))], values)
            if done.rowcount:
                return {"end": "ok"}
        value = (await connection.execute(READ, {"key": r["key"]})).scalar()
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
    return {**answer, "cause": "not-primary"} if code == "25006" else answer


async def do(engine, r):
    task = asyncio.create_task(work(engine, r))
    if not (await asyncio.wait({task}, timeout=r["deadline_ms"] / 1000))[0]:
        task.cancel()  # not awaited: it would wait for the server that hangs
        unknown = r.get("sent") and r["do"] == "write"
        cause = "client-timeout-total" if r.get("sent") else "pool-exhausted"
        answer = {"end": "in_doubt" if unknown else "failed", "cause": cause}
    else:
        answer = ended(r, error) if (error := task.exception()) else task.result()
    print(json.dumps({"id": r["id"], **answer}), flush=True)


async def main():
    opening = json.loads(sys.stdin.readline())
    at, options = opening["connection"], opening.get("options") or {}
    hosts = [urlsplit(f"//{each}") for each in urlsplit(at["uri"]).netloc.split(",")]
    where = {"host": [h.hostname for h in hosts], "port": [h.port or 5432 for h in hosts]}
    login = {"user": at["username"], "password": at["password"], "database": "postgres"}
    own = dict(options)
    connect_args, invalidate_on = own.pop("connect_args", {}), own.pop("invalidate_on", [])
    if len(hosts) > 1:
        where["target_session_attrs"] = "read-write"  # one address is to lead to the primary

    async def connect():
        return await asyncpg.connect(**{**where, **login, **connect_args})

    engine = create_async_engine("postgresql+asyncpg://", async_creator=connect, **own)

    @event.listens_for(engine.sync_engine, "handle_error")
    def invalidate(context):
        if getattr(context.original_exception, "sqlstate", None) in invalidate_on:
            context.is_disconnect = True  # the whole pool goes, as if the connection had broken

    async with asyncio.TaskGroup() as tasks:
        first = await connect()
        await first.execute(f"CREATE TABLE IF NOT EXISTS {TABLE} {COLUMNS}")
        await first.close()
        print(json.dumps({"opened": "sqlalchemy asyncpg", "settings": options}), flush=True)
        while (line := await asyncio.to_thread(sys.stdin.readline)) and '"close"' not in line:
            tasks.create_task(do(engine, json.loads(line)))
    await engine.dispose()


if __name__ == "__main__":
    asyncio.run(main())
