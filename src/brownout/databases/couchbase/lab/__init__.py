"""The lab of Couchbase: `settings` are what its inventory may say, `cluster` makes one.

`server` finds Java and fetches the mock; `mock.in` is what the mock is told.
"""
