"""What is tested: inventories, one adapter per database, one host per way of reaching a machine.

`inventory` reads a cluster's file into the `model`; `adapter` asks the database; `host` stops,
starts, pauses and wipes what it runs on. Adapters use hosts; hosts know no database. Nothing here
knows of load or impact.
"""
