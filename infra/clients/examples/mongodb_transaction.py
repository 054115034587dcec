"""An order and its reservation, two documents in one transaction, as a stream on MongoDB.

It has no conditional writes: `write_once: true` (docs/client.md). A read finds both documents, or
neither; anything else is half a transaction, which the ledger counts as a lost write.
"""

import asyncio
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

from mongodb import main  # the ready client beside it: connection, deadlines, ends


async def work(documents, r):
    order, reservation = {"_id": f"order {r['key']}"}, {"_id": f"reservation {r['key']}"}
    client = documents.database.client
    async with client.start_session() as session, await session.start_transaction():
        if r["do"] == "write":
            for document in (order, reservation):
                content = {"value": r["value"]}
                await documents.replace_one(document, content, upsert=True, session=session)
            return {"end": "ok"}
        stored = [await documents.find_one(each, session=session) for each in (order, reservation)]
    values = {each["value"] if each else None for each in stored}
    return {"end": "ok", "value": values.pop() if len(values) == 1 else "half an order"}


if __name__ == "__main__":
    asyncio.run(main(work))
