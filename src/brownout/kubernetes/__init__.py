"""The way to a Kubernetes cluster, for all that is done there: `docs/kubernetes.md`.

access ──▶ objects ──▶ the official client ──▶ the API server
           problems    (what it answers, in a sentence)
"""
