"""What every other part stands on: errors, settings, secrets, plugins, files, locks, waiting."""
