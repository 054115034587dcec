"""The labs of MongoDB: a replica set, shards behind a router, and a set with an Atlas API.

`settings` are what their inventories may say, `replica_set` makes a set of `mongod`s, with a login
and TLS where it has `security`. `sharded_cluster` is several of
these behind `router_stand_in`, `atlas` one
with a local Administration API (`atlas_api`) in front of it.
"""
