"""The labs of Redis: `settings` are what their inventories may say, `cluster` makes one.

`sentinel` makes a master, its replicas and their sentinels.
"""
