"""Many finished runs: repeated, gated, compared, kept, and made on a schedule."""
