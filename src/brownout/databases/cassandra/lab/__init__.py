"""Labs of Cassandra: `settings` are those of a lab's inventory, `cluster` makes the lab.

`server` finds Java and fetches Cassandra, `configuration` writes a node's files.
"""
