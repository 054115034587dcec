"""What Atlas is asked to do to a cluster in a run: requested by its API, effective by the driver.

    conditions ──▶ guards ──▶ intent ──▶ request ──▶ a member lost: effective ──▶ applied: finished

Nothing stays broken by a failover test or by maintenance. Another size, an outage, a pause and
another window leave their undo pending from the intent on.
"""
