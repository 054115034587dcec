"""Defaults that name a database. Help and messages use them as examples, too."""

__all__ = ["CLOCKS", "CLUSTER", "DATABASE", "DISKS", "PARTITIONED", "SLOWED"]

#: The default inventory of experiments, loads and `brownout lab`.
CLUSTER = "lab-mongodb"
#: The labs whose nodes can be cut off and slowed down.
PARTITIONED, SLOWED = "lab-mongodb-partition", "lab-mongodb-slow"
#: The lab whose nodes have disks of their own.
DISKS = "lab-mongodb-disk"
#: The lab whose servers have clocks of their own.
CLOCKS = "lab-mongodb-clock"
#: The default database of an imported Ansible inventory.
DATABASE = "aerospike"
