"""Runs in an object store: copied there when they end, checked there, and fetched back."""
