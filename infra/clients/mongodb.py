"""A client for a stream on MongoDB, by pymongo: the protocol of docs/client.md.

The options are those of `AsyncMongoClient` (`maxPoolSize`, `waitQueueTimeoutMS`, `w`, …). Its
retries are off unless `retryWrites` and `retryReads` are given.
"""

import asyncio
import json
import sys
from contextlib import suppress
from pathlib import Path

from pymongo import AsyncMongoClient, errors

#: What the server answers to a write that it did not begin.
NOT_PRIMARY = (10107, 13435)
#: What it answers to one that it may have done: interrupted, shutting down, write concern unknown.
UNKNOWN = (11600, 11602, 91, 64, 50, 79, 262)
#: Why it did not, by the code of its answer.
CAUSES = {
    **dict.fromkeys((*NOT_PRIMARY, 91, 189, 11600, 11602), "not-primary"),
    **dict.fromkeys((50, 262), "server-timeout"),
    64: "quorum-unavailable",
    112: "key-busy",
}

#: Of the deadline, since an answer takes a moment.
EARLY = 0.98


async def work(records, r):
    key = {"_id": r["key"]}
    if r["do"] == "write":
        expect = r.get("expect") or {}
        record = {k: r[k] for k in ("writer", "sequence", "value")}
        if "missing" in expect:
            try:
                await records.insert_one({**key, **record})
                return {"end": "ok"}
            except errors.DuplicateKeyError:
                pass
        elif "first" in expect:
            sequence = {"$gte": expect["first"], "$lte": expect["last"]}
            held = {**key, "writer": r["writer"], "sequence": sequence}
            if (await records.update_one(held, {"$set": record})).matched_count:
                return {"end": "ok"}
        else:
            await records.replace_one(key, record, upsert=True)
            return {"end": "ok"}
    stored = await records.find_one(key)
    value = stored["value"] if stored else None
    return {"end": "ok" if r["do"] == "read" else "refused", "value": value}


def ended(r, error):
    """Say how an operation that raised `error` ended."""
    code = getattr(error, "code", None)
    if isinstance(error, errors.NotPrimaryError) and isinstance(error.details, dict):
        code = error.details.get("code")
    answer = {"end": "failed", "code": str(code or type(error).__name__)}
    if isinstance(error, errors.WaitQueueTimeoutError):
        return {**answer, "cause": "pool-exhausted"}
    if isinstance(error, errors.ServerSelectionTimeoutError):
        return {**answer, "cause": "no-node"}
    unacknowledged = isinstance(error, errors.WriteConcernError)  # done, and may be rolled back
    cause = CAUSES.get(code)
    if isinstance(error, errors.NetworkTimeout):
        cause = "client-timeout-read"
    elif isinstance(error, errors.AutoReconnect) and not code:
        refused = isinstance(error.__cause__, ConnectionRefusedError)
        cause = "connect-refused" if refused else "connection-reset"
    if cause:
        answer["cause"] = cause
    if code in NOT_PRIMARY and not unacknowledged:
        return answer
    broken = isinstance(error, errors.ConnectionFailure) or not isinstance(
        error, errors.OperationFailure
    )
    unknown = broken or code in UNKNOWN or unacknowledged
    return {**answer, "end": "in_doubt"} if unknown and r["do"] == "write" else answer


async def do(work, records, r):
    task = asyncio.create_task(work(records, r))
    if not (await asyncio.wait({task}, timeout=EARLY * r["deadline_ms"] / 1000))[0]:
        task.cancel()
        end = "in_doubt" if r["do"] == "write" else "failed"
        answer = {"end": end, "cause": "client-timeout-total"}
    else:
        answer = ended(r, error) if (error := task.exception()) else task.result()
    print(json.dumps({"id": r["id"], **answer}), flush=True)


def encryption(tls):
    """Return the connection's `tls` in pymongo's words."""
    for name in ("ca_file", "cert_file", "key_file"):
        if tls.get(name):
            Path(tls[name]).stat()  # whose error names the file, which the driver's does not
    words = {
        "tlsCAFile": tls.get("ca_file"),
        "tlsCertificateKeyFile": tls.get("cert_file"),  # which holds the key as well
        "tlsCertificateKeyFilePassword": tls.get("key_passphrase"),
        "tlsInsecure": tls.get("insecure_skip_verify"),
    }
    return {"tls": True, **{k: v for k, v in words.items() if v}} if tls.get("enabled") else {}


async def main(work=work):
    opening = json.loads(sys.stdin.readline())
    at, options = opening["connection"], opening.get("options") or {}
    login = {k: at[k] for k in ("username", "password") if at.get(k)}
    usual = {"w": "majority", "retryWrites": False, "retryReads": False}
    try:
        login |= encryption(at.get("tls") or {})
        client = AsyncMongoClient(at["uri"], **login, **{**usual, **options})
        records = client[opening["namespace"]]["brownout_client"]
        with suppress(errors.CollectionInvalid):  # it is there
            await records.database.create_collection(records.name)
    except (OSError, errors.PyMongoError) as error:
        print(json.dumps({"error": str(error)}), flush=True)
        return
    async with client, asyncio.TaskGroup() as tasks:
        print(json.dumps({"opened": "pymongo", "settings": options}), flush=True)
        while (line := await asyncio.to_thread(sys.stdin.readline)) and '"close"' not in line:
            tasks.create_task(do(work, records, json.loads(line)))


if __name__ == "__main__":
    asyncio.run(main())
