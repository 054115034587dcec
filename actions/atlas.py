"""What Atlas can be asked to do to a cluster that it runs: `atlas` of the inventory says how.

Each is requested by the Administration API and effective when the database's driver sees it:
`{"node": null, "effective": 24.1, "evidence": {"began_after_s": 2.3, …}, "finished_after_s": 9.1,
"lost": […], "primaries": […], "without_primary_s": 0.8}`. All fail where Atlas has not begun within
`begins_within_s` seconds, or not finished within `done_within_s` more, and are refused, with
nothing asked for, on a shared tier, a paused cluster, during a change or an outage.

They are made from the faults of `brownout.faults.atlas`.
"""

from brownout.session.activity import actions_of

_MADE = actions_of(__name__)
globals().update(_MADE)
__all__ = sorted(_MADE)
