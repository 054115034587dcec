"""What is taken where nothing is said, and named as an example. A choice of ours, documented."""

__all__ = ["CLUSTER", "DATABASE", "PARTITIONED", "SLOWED"]

#: The inventory of an experiment, of a load, and of `brownout lab`.
CLUSTER = "lab-mongodb"
#: Labs whose nodes can be cut off, and slowed.
PARTITIONED, SLOWED = "lab-mongodb-partition", "lab-mongodb-slow"
#: What runs on the machines of an Ansible inventory.
DATABASE = "aerospike"
