"""Is it within what was promised? Limits, validity, the verdict, and the analysis of a run."""
