"""What people read of a run: the table in the terminal."""
