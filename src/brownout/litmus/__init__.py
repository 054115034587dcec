"""LitmusChaos: brownout's experiments as its faults, its faults under brownout's load.

    ChaosEngine ──▶ `brownout litmus run` ──▶ a run ──▶ verdict ──▶ ChaosResult
    an experiment ──▶ `run_chaos_engine` ──▶ ChaosEngine ──▶ its operator ──▶ ChaosResult ──▶ probes

What Litmus means by its fields is written down in docs/litmus.md.
"""
