"""One folder per database, and what they share: the protocol of an adapter, milestones."""
