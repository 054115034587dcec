"""A run as evidence: one archive with checksums of all that it holds, and the check of one."""
