"""The labs of PostgreSQL: `settings` are what their inventories may say, `cluster` makes one.

`server` finds the programs and writes Patroni's configuration, `release` gets a certain release of
Patroni, `store` is the etcd in which the members agree who leads. `streaming` makes a cluster
without Patroni, and `commands` are its scripts.
"""
