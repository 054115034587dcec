"""Experiments as tests: what the `resilience` fixture of `brownout.pytest_plugin` is made of."""
