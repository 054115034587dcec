"""What is broken and undone: a file for each fault, the guards, the pending undos, and heal.

`fault` says what a fault is, `registry` finds them all, `faults` is what each goes through.
"""
