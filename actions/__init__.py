"""Breaking and undoing. Each activity checks its arguments, calls the core, returns evidence."""
