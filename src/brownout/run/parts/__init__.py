"""A run whose load came from several generators: their files, and the run's own made of them."""
