"""What every other part stands on: errors, settings and YAML, secrets, plugins, private files."""
