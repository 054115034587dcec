"""A table of one's own that is read by its secondary index, as a stream on PostgreSQL.

It has no conditional writes: `write_once: true` (docs/client.md).
"""

import asyncio
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

from postgresql import main  # the ready client beside it: pool, deadlines, ends

SCHEMA = """
CREATE TABLE IF NOT EXISTS brownout_client_orders (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    number text NOT NULL,
    note text NOT NULL,
    placed timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX IF NOT EXISTS brownout_client_orders_number ON brownout_client_orders (number)
"""
PLACE = """
INSERT INTO brownout_client_orders (number, note) VALUES (%(key)s, %(value)s)
ON CONFLICT DO NOTHING
"""
FIND = "SELECT note FROM brownout_client_orders WHERE number = %(key)s"


async def work(pool, r):
    async with pool.connection(timeout=r["deadline_ms"] / 1000) as connection:
        r["sent"] = True
        if r["do"] == "write":
            await connection.execute(PLACE, r)
            return {"end": "ok"}
        row = await (await connection.execute(FIND, r)).fetchone()
        return {"end": "ok", "value": row[0] if row else None}


if __name__ == "__main__":
    asyncio.run(main(work, SCHEMA))
