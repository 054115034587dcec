"""What Prometheus and Grafana see of a run, and what is asked of Prometheus.

    session ──▶ Observation ──▶ Page (run's metrics + generator's) ──▶ Server /metrics, /board
                     │                                                    ▲ targets: file_sd
                     ├──▶ Pushgateway, once judged                        │
                     ├──▶ OTLP: a trace, once judged (`spans`)            │
                     └──▶ Grafana: an annotation an event          Prometheus (`brownout observe`)
                                                                          │
    probes ◀── windows ◀── source ◀───────────────────────────────────────┘

Nothing in here ever stops a run: what does not work is reported once, and the run continues.
"""
