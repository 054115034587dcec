"""Faults that other tools make, by those tools' own account of when and on what."""
