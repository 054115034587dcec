"""The lab of Aerospike: `cluster` lays nodes out, with a file (`conf`) for each `server`."""
