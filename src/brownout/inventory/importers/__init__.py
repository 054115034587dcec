"""Inventories written from what other tools know of the same machines: `docs/clusters.md`.

aerolab, ansible, pods ──▶ machine ──▶ document
(what a tool, an API says) (plain)    (an inventory's text, with comments on what is left to do)
"""

from brownout.inventory.importers.document import written
from brownout.inventory.importers.machine import Imported, Machine

__all__ = ["Imported", "Machine", "written"]
