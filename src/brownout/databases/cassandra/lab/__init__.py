"""The labs of Cassandra: `settings` are what their inventories may say, `cluster` makes one.

`server` finds Java and fetches Cassandra, `configuration` writes a node's files.
"""
