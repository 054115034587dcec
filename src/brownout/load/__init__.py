"""The load: what normal is (workload files) and the generator that produces it.

Nothing here knows of faults. Start with `workload.load`, then `generator.Generator`.
"""
