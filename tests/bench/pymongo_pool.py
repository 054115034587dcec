"""The peer: a pool of threads with pymongo that is given work at a rate, as load tools do it.

Each worker takes a turn when it is free and when the turn has come, and times what it does from
the moment it begins. Prints a line of JSON.
"""

import json
import resource
import sys
import threading
import time
from typing import Any

import pymongo


def main() -> None:
    """Offer `rate` updates and reads a second for `seconds`, by `workers` threads."""
    uri, rate, seconds, workers = sys.argv[1], *map(int, sys.argv[2:5])
    client: pymongo.MongoClient[dict[str, Any]] = pymongo.MongoClient(uri, timeoutMS=10_000)
    records = client.bench.records
    value = b"x" * 256
    records.update_one({"_id": 0}, {"$set": {"v": value}}, upsert=True)
    lock, turns, began = threading.Lock(), iter(range(rate * seconds)), time.monotonic()
    took: list[float] = []
    failed = 0
    before = resource.getrusage(resource.RUSAGE_SELF)

    def work() -> None:
        nonlocal failed
        while True:
            with lock:
                turn = next(turns, None)
            if turn is None or time.monotonic() - began > seconds:
                return
            time.sleep(max(0.0, began + turn / rate - time.monotonic()))
            start = time.monotonic()
            try:
                if turn % 2:
                    records.find_one({"_id": turn % 10_000})
                else:
                    records.update_one({"_id": turn % 10_000}, {"$set": {"v": value}}, upsert=True)
                took.append(time.monotonic() - start)
            except pymongo.errors.PyMongoError:
                failed += 1

    threads = [threading.Thread(target=work) for _ in range(workers)]
    for thread in threads:
        thread.start()
    print(json.dumps({"event": "running"}), flush=True)
    for thread in threads:
        thread.join()
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    took.sort()
    slow = sum(one > 1.0 for one in took)
    told = {"done": len(took), "failed": failed, "slow": slow, "cpu_s": cpu_s}
    print(json.dumps({**told, "p99_ms": 1000 * took[int(0.99 * len(took))], "max_s": took[-1]}))


if __name__ == "__main__":
    main()
