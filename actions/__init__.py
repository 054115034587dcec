"""What breaks or mends. Each activity checks its arguments, calls the core, returns evidence."""
