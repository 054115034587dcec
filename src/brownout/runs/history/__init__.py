"""Every run that ended, kept in a database: what it was, what it measured, how it was judged.

SQLite in the state directory unless `BROWNOUT_HISTORY` names a file, a database or `off`.
"""
