"""What people read: the report, the table, the panel while a run lasts."""
