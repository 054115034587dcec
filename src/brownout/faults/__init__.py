"""What is broken and mended: guards, acts and their proofs, what is still to be undone, heal."""
