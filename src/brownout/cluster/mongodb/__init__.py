"""The adapter for MongoDB replica sets.

`adapter` joins the parts: `access` (how drivers connect), `link` (one member's connection),
`view` (what one member says of itself), `milestones` and `choice` (judging those, pure),
`storage` (where a member keeps its data), `membership` (the set's next configuration, pure) and
`configuring` (giving it that), which `resizing` and `adjusting` do.
"""

from brownout.cluster.adapter import Adapter
from brownout.cluster.mongodb.adapter import MongoAdapter
from brownout.errors import Unsupported

__all__ = ["MongoAdapter", "of_mongodb"]


def of_mongodb(adapter: Adapter) -> MongoAdapter:
    """Return the adapter, if it is one of MongoDB; `Unsupported` otherwise."""
    if isinstance(adapter, MongoAdapter):
        return adapter
    raise Unsupported(f"this asks a MongoDB cluster, and {adapter.engine()} is none")
