"""One run, from the plan to the verdict: what the Chaos Toolkit control and the activities drive.

The parts in the order a run uses them: `options` and `plan` (what is wanted), `bring_up` (until
the baseline is accepted), `faults` (break and undo), `milestones` (what the cluster says),
`wind_down` (until the load has stopped and the ledger is read), `session` (joins them).
"""
