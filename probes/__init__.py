"""What is asked: of the load that was measured, and of the cluster."""
