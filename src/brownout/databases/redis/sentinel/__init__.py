"""Redis under Sentinel: one master, its replicas, and sentinels that promote one of them.

`adapter` joins the parts: `view` (what one server says of itself), `watch` (what one sentinel says
of all of them), `milestones` (judging both, pure) and `candidate` (one server, asked by itself
whether it accepts writes).
"""
