"""The labs of Redis Cluster: `settings` are what their inventories may say, `cluster` makes one."""
