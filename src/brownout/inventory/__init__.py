"""The cluster as its inventory file describes it, and the files that others already have of it."""
