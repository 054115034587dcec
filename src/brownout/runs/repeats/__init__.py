"""One experiment many times, each in a process of its own, and how its measures are spread.

A run tells how one fault turned out. How the next one will, only more faults can tell: here the
replicate is a fault, with its own moment, node and seed.
"""
