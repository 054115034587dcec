"""How near the Aerospike stand-in comes to the real server: one table, made by measuring.

    python -m tests.databases.aerospike.fidelity --captures DIR -o docs/stand-in.md

`captured` reads captures of a real cluster, `driven` makes the same trials on a lab, `load` is the
same load for all of them, `measures` says what to compare, `answers` compares info answers and
`tables` writes. Nothing of it runs in an experiment.
"""
