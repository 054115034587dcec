"""`make bench`: how fast it is, each time beside something else in the same run. No test."""
