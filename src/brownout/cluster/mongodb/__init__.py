"""The adapter for MongoDB replica sets.

`adapter` joins the parts: `access` (how drivers connect), `link` (one member's connection),
`view` (what one member says of itself), `milestones` and `choice` (judging those, pure), and
`storage` (where a member keeps its data).
"""

from brownout.cluster.mongodb.adapter import MongoAdapter

__all__ = ["MongoAdapter"]
