"""How often a detector sees a fault where there is none, and how often it misses one."""
