"""What LitmusChaos breaks for us: its engines, and what it says of them."""
