"""The labs of etcd: `settings` are what their inventories may say, `cluster` makes one."""
