"""A client for a stream on PostgreSQL, by psycopg and its pool: the protocol of docs/client.md."""

import asyncio
import json
import sys
from pathlib import Path
from urllib.parse import urlsplit

from psycopg import AsyncConnection, Error
from psycopg_pool import AsyncConnectionPool, PoolTimeout, TooManyRequests

TABLE = "brownout_client"
COLUMNS = "(key text PRIMARY KEY, writer text, sequence bigint, value text)"
MAKE = f"INSERT INTO {TABLE} VALUES (%(key)s, %(writer)s, %(sequence)s, %(value)s) ON CONFLICT"
SET = "SET writer = %(writer)s, sequence = %(sequence)s, value = %(value)s"
KNOWN = "key = %(key)s AND writer = %(writer)s AND sequence BETWEEN %(first)s AND %(last)s"
WRITES = {
    "any": f"{MAKE} (key) DO UPDATE {SET}",
    "missing": f"{MAKE} DO NOTHING",
    "first": f"UPDATE {TABLE} {SET} WHERE {KNOWN}",
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


async def work(pool, r):
    async with pool.connection(timeout=r["deadline_ms"] / 1000) as connection:
        r["sent"] = True
        if r["do"] == "write":
            expect = r.get("expect") or {"any": True}
            done = await connection.execute(WRITES[next(iter(expect))], {**r, **expect})
            if done.rowcount:
                return {"end": "ok"}
        read = await connection.execute(f"SELECT value FROM {TABLE} WHERE key = %(key)s", r)
        row = await read.fetchone()
        return {"end": "ok" if r["do"] == "read" else "refused", "value": row[0] if row else None}


def ended(r, error):
    """Say how an operation that raised `error` ended."""
    if isinstance(error, PoolTimeout | TooManyRequests):
        return {"end": "failed", "cause": "pool-exhausted"}
    code = getattr(error, "sqlstate", None)
    # Without a code the connection broke, and what was sent may be done.
    unknown = r.get("sent") and r["do"] == "write" and (code or "57").startswith(UNKNOWN)
    answer = {"end": "in_doubt" if unknown else "failed", "code": code or type(error).__name__}
    cause = CAUSES.get(code) if code else "connection-reset" if r.get("sent") else None
    return {**answer, "cause": cause} if cause else answer


async def do(work, pool, r):
    task = asyncio.create_task(work(pool, r))
    if not (await asyncio.wait({task}, timeout=EARLY * r["deadline_ms"] / 1000))[0]:
        task.cancel()  # not awaited: psycopg would wait for the server that hangs
        unknown = r.get("sent") and r["do"] == "write"
        cause = "client-timeout-total" if r.get("sent") else "pool-exhausted"
        answer = {"end": "in_doubt" if unknown else "failed", "cause": cause}
    else:
        answer = ended(r, error) if (error := task.exception()) else task.result()
    print(json.dumps({"id": r["id"], **answer}), flush=True)


def encryption(tls):
    """Return the connection's `tls` in libpq's words."""
    if not tls.get("enabled"):
        return {"sslmode": "disable"}
    for name in ("cert_file", "key_file"):
        if tls.get(name):
            Path(tls[name]).stat()  # libpq would go without one that is not there
    insecure = tls.get("insecure_skip_verify")
    words = {
        "sslmode": "require" if insecure else "verify-full",
        "sslrootcert": tls.get("ca_file") if not insecure else None,  # libpq would check it
        "sslcert": tls.get("cert_file"),
        "sslkey": tls.get("key_file"),
        "sslpassword": tls.get("key_passphrase"),
    }
    return {name: value for name, value in words.items() if value}


async def main(work=work, schema=f"CREATE TABLE IF NOT EXISTS {TABLE} {COLUMNS}"):
    opening = json.loads(sys.stdin.readline())
    at, options = opening["connection"], opening.get("options") or {}
    login = {"user": at["username"], "password": at["password"], "autocommit": True}
    login["dbname"] = at.get("database") or "postgres"
    where = f"postgresql://{urlsplit(at['uri']).netloc}/?target_session_attrs=read-write"
    try:
        login |= encryption(at.get("tls") or {})
        # The pool would try again and again, and not say why.
        async with await AsyncConnection.connect(where, **login) as connection:
            await connection.execute(schema)
    except (OSError, Error) as error:
        print(json.dumps({"error": str(error)}), flush=True)
        return
    pool = AsyncConnectionPool(where, kwargs=login, open=False, **options)
    async with pool, asyncio.TaskGroup() as tasks:
        print(json.dumps({"opened": "psycopg", "settings": options}), flush=True)
        while (line := await asyncio.to_thread(sys.stdin.readline)) and '"close"' not in line:
            tasks.create_task(do(work, pool, json.loads(line)))


if __name__ == "__main__":
    asyncio.run(main())
