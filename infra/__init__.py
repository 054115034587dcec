"""What brownout runs on: inventories in `clusters/`, embedded clusters in `lab/`."""
