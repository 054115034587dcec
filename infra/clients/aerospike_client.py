"""A client for a stream on Aerospike, by its client in C: the protocol of docs/client.md.

The options are those of the client (`max_error_rate`, `tend_interval`, `read: {total_timeout}`,
`write: {max_retries}`, …) and `namespace`, by default the first that the server has. Writes are
not retried unless `write.max_retries` says so.
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

import aerospike
from aerospike import exception
from aerospike_helpers import expressions as exp

THREADS = 64
ONE_AT_A_TIME = Lock()
#: What the server answers to a write that it did not do.
UNDONE = {8: "stop-writes", 11: "quorum-unavailable", 14: "key-busy", 18: "overloaded"}
#: Why the client did not get its answer.
UNANSWERED = {
    -14: "circuit-breaker",
    -10: "connection-reset",
    -8: "no-node",
    -7: "pool-exhausted",
    9: "client-timeout-total",
}


def write(client, key, r, policy):
    expect = r.get("expect") or {}
    if "missing" in expect:
        policy["exists"] = aerospike.POLICY_EXISTS_CREATE
    elif "first" in expect:
        policy["exists"] = aerospike.POLICY_EXISTS_UPDATE
        sequence = exp.IntBin("sequence")
        in_range = exp.And(exp.GE(sequence, expect["first"]), exp.LE(sequence, expect["last"]))
        same = exp.Eq(exp.StrBin("writer"), r["writer"])
        policy["expressions"] = exp.And(same, in_range).compile()
    client.put(key, {name: r[name] for name in ("writer", "sequence", "value")}, policy=policy)
    return {"end": "ok"}


def read(client, key, policy):
    try:
        return client.get(key, policy=policy)[2]["value"]
    except exception.RecordNotFound:
        return None


def ended(r, error):
    """Say how an operation that raised `error` ended."""
    answer = {"end": "failed", "code": error.code}
    if error.code in UNDONE:
        return {**answer, "cause": UNDONE[error.code]}
    if error.code in UNANSWERED:
        answer["cause"] = UNANSWERED[error.code]
    return {**answer, "end": "in_doubt"} if r["do"] == "write" and error.in_doubt else answer


def do(client, place, r):
    key, left = (*place, r["key"]), {"total_timeout": r["deadline_ms"]}
    try:
        try:
            if r["do"] == "write":
                answer = write(client, key, r, dict(left))
            else:
                answer = {"end": "ok", "value": read(client, key, left)}
        except (exception.RecordExistsError, exception.RecordNotFound, exception.FilteredOut):
            answer = {"end": "refused", "value": read(client, key, left)}
    except exception.AerospikeError as error:
        answer = ended(r, error)
    with ONE_AT_A_TIME:
        print(json.dumps({"id": r["id"], **answer}), flush=True)


def config(at, options):
    tls = at.get("tls") or {}
    policies = {name: value for name, value in options.items() if isinstance(value, dict)}
    policies["write"] = {"max_retries": 0, **policies.get("write", {})}
    own = {name: value for name, value in options.items() if not isinstance(value, dict)}
    hosts = []
    for address in at["uri"].removeprefix("aerospike://").rstrip("/").split(","):
        host, _, port = address.rpartition(":")
        hosts.append((host.strip("[]"), int(port), *([host] if tls.get("enabled") else [])))
    words = {"cafile": "ca_file", "certfile": "cert_file", "keyfile": "key_file"}
    own_files = {ours: tls[theirs] for ours, theirs in words.items() if tls.get(theirs)}
    login = {"user": at["username"], "password": at["password"]} if at.get("username") else {}
    encrypted = {"tls": {"enable": True, **own_files}} if tls.get("enabled") else {}
    return {**own, "policies": policies, "hosts": hosts, **login, **encrypted}


def main():
    opening = json.loads(sys.stdin.readline())
    options = dict(opening.get("options") or {})
    namespace = options.pop("namespace", "")
    try:
        client = aerospike.client(config(opening["connection"], options))
        namespace = namespace or client.info_random_node("namespaces").split()[-1].split(";")[0]
    except exception.AerospikeError as error:
        print(json.dumps({"error": f"{error.msg} ({error.code})"}), flush=True)
        return
    place = namespace, f"{opening['namespace']}-client"
    print(json.dumps({"opened": "aerospike", "settings": options}), flush=True)
    with ThreadPoolExecutor(THREADS) as threads:
        for line in sys.stdin:
            if (r := json.loads(line))["do"] == "close":
                break
            threads.submit(do, client, place, r)


if __name__ == "__main__":
    main()
