"""The run directory: the raw files of one run, read and written."""
