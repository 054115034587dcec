"""The highest rate that holds an SLA, whole and with a node gone: `docs/capacity.md`.

`search` decides which rate is tried next, `judgement` what a step says; both are pure.
`whole_steps` and `fault_judgement` make the steps, `hunt` joins them, `result` is what is kept and
shown.
"""
