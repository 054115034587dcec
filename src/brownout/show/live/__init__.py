"""What a person sees of a run in progress: in the terminal of the run, or from another one.

    events.ndjson, run.json ──┐
    series (live or files) ───┼──▶ Board ──▶ panel (terminal) or one line (CI, logs)
    phase, progress ──────────┘

`board` is the picture as plain data, `course` and `outlook` make it from what is known of the
run, `panel` and `plain` show it, `screen` keeps it on the screen, `follow` reads a run directory.
"""
