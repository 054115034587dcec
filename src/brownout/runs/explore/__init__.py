"""Explore: draw sequences of faults, find one that breaks the promise, and shrink it."""
