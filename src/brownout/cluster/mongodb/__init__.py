"""The adapter for MongoDB replica sets.

`adapter` joins the parts: `access` (how drivers connect), `link` (one member's connection),
`view` (what one member says of itself), `milestones` and `choice` (judging those, pure),
`storage` (where a member keeps its data), `membership` (the set's next configuration, pure) and
`configuring` (giving it that), which `resizing` and `adjusting` do.
"""

from brownout.cluster.mongodb.adapter import MongoAdapter

__all__ = ["MongoAdapter"]
