"""What a node runs on: processes, signals, networks and files, here and elsewhere."""
