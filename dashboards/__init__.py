"""Grafana dashboards and Prometheus rules of brownout.

`python -m brownout.dashboards` builds `grafana/*.json` from the modules here; the rules and the
provisioning files are written by hand.
"""
