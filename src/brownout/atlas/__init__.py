"""The Administration API of MongoDB Atlas: what its owner may ask, and have done to a cluster.

    spec ──▶ client ──▶ retrying ──▶ login ──▶ the API     one call: one answer or one `AtlasError`
    calls ─────┘ └──▶ answers                              a call is data: shown without being sent

Only the control plane is here. When a primary is gone, the database's own driver says so; this API
says only that something was asked for. `client` and `login` need the packages of the extra `atlas`.
"""

from brownout.inventory.atlas import AtlasSpec

__all__ = ["AtlasSpec"]
