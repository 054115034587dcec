"""A client for a stream on Redis Cluster, by redis-py: the protocol of docs/client.md.

The options are those of `redis.asyncio.RedisCluster` (`max_connections`, `socket_timeout`, …), and
`retries`: how often redis-py itself tries again. A write that it repeats may take effect twice.
"""

import asyncio
import json
import sys
from pathlib import Path
from urllib.parse import urlsplit

from redis.asyncio import RedisCluster
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    ConnectionError,
    MaxConnectionsError,
    RedisClusterException,
    RedisError,
    ResponseError,
    TimeoutError,
)

# Answers nil once it is written, else {what is stored} or {}.
WRITE = """
local at = redis.call('HMGET', KEYS[1], 'writer', 'sequence', 'value')
local fits = true
if ARGV[4] == 'missing' then fits = not at[1] end
if ARGV[4] == 'first' then
  local n = tonumber(at[2] or -1)
  fits = at[1] == ARGV[1] and n >= tonumber(ARGV[5]) and n <= tonumber(ARGV[6])
end
if not fits then return {at[3]} end
redis.call('HSET', KEYS[1], 'writer', ARGV[1], 'sequence', ARGV[2], 'value', ARGV[3])
return nil
"""

#: Why the server did not do what was asked, by the code of its answer.
CAUSES = {
    "READONLY": "not-primary",
    "CLUSTERDOWN": "quorum-unavailable",
    "NOREPLICAS": "quorum-unavailable",
    "LOADING": "no-node",
    "MASTERDOWN": "no-node",
}

#: Of the deadline, since an answer takes a moment.
EARLY = 0.98


async def work(cluster, namespace, r):
    key = f"{namespace}/client/{r['key']}"
    if r["do"] == "read":
        return {"end": "ok", "value": await cluster.hget(key, "value")}
    expect = r.get("expect") or {"any": True}
    range_ = (expect.get("first", 0), expect.get("last", 0))
    written = r["writer"], r["sequence"], r["value"]
    stored = await cluster.eval(WRITE, 1, key, *written, next(iter(expect)), *range_)
    if stored is None:
        return {"end": "ok"}
    return {"end": "refused", "value": stored[0] if stored else None}


def ended(r, error):
    """Say how an operation that raised `error` ended."""
    code = getattr(error, "status_code", None)  # redis-py takes it out of the message
    if not code and isinstance(error, ResponseError):
        code = str(error).split(" ")[0]
    answer = {"end": "failed", "code": code or type(error).__name__}
    if isinstance(error, MaxConnectionsError):
        return {**answer, "cause": "pool-exhausted"}
    if code in CAUSES:
        return {**answer, "cause": CAUSES[code]}
    if code or isinstance(error, ResponseError):
        return answer
    connecting = "connecting to" in str(error)
    if isinstance(error, TimeoutError):
        answer["cause"] = "client-timeout-connect" if connecting else "client-timeout-read"
    elif isinstance(error, ConnectionError):
        answer["cause"] = "connect-refused" if connecting else "connection-reset"
    elif isinstance(error, RedisClusterException):
        answer["cause"] = "no-node"
    return {**answer, "end": "in_doubt"} if r["do"] == "write" else answer


async def do(cluster, namespace, r):
    task = asyncio.create_task(work(cluster, namespace, r))
    if not (await asyncio.wait({task}, timeout=EARLY * r["deadline_ms"] / 1000))[0]:
        task.cancel()
        end = "in_doubt" if r["do"] == "write" else "failed"
        answer = {"end": end, "cause": "client-timeout-total"}
    else:
        answer = ended(r, error) if (error := task.exception()) else task.result()
    print(json.dumps({"id": r["id"], **answer}), flush=True)


def encryption(tls):
    """Return the connection's `tls` in redis-py's words."""
    if not tls.get("enabled"):
        return {}
    for name in ("ca_file", "cert_file", "key_file"):
        if tls.get(name):
            Path(tls[name]).stat()  # whose error names the file, which the driver's does not
    return {
        "ssl": True,
        "ssl_cert_reqs": "none" if tls.get("insecure_skip_verify") else "required",
        "ssl_check_hostname": not tls.get("insecure_skip_verify"),
        "ssl_ca_certs": tls.get("ca_file") or None,
        "ssl_certfile": tls.get("cert_file") or None,
        "ssl_keyfile": tls.get("key_file") or None,
    }


async def main():
    opening = json.loads(sys.stdin.readline())
    at, options = opening["connection"], opening.get("options") or {}
    own = dict(options)
    hosts = [urlsplit(f"//{each}") for each in urlsplit(at["uri"]).netloc.split(",")]
    try:
        cluster = RedisCluster(
            startup_nodes=[ClusterNode(each.hostname, each.port or 6379) for each in hosts],
            username=at["username"] or None,
            password=at["password"] or None,
            decode_responses=True,
            retry=Retry(NoBackoff(), own.pop("retries", 0)),
            **encryption(at.get("tls") or {}),
            **own,
        )
        await cluster.initialize()
    except (OSError, RedisError, RedisClusterException) as error:
        print(json.dumps({"error": str(error)}), flush=True)
        return
    async with cluster, asyncio.TaskGroup() as tasks:
        print(json.dumps({"opened": "redis-py", "settings": options}), flush=True)
        while (line := await asyncio.to_thread(sys.stdin.readline)) and '"close"' not in line:
            tasks.create_task(do(cluster, opening["namespace"], json.loads(line)))


if __name__ == "__main__":
    asyncio.run(main())
