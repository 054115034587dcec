"""From runs to a decision: repeats of one fault held against limits and against a pinned baseline.

The replicate is a fault. `ranks` compares two samples, `decision` makes three-valued decisions of
it, `power` says how many repeats one that is open would need.
"""
