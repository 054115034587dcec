"""Clients compared: several clients of an application and their settings under the same fault."""
