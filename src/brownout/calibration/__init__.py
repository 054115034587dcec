"""The instrument against known truth: scripted faults, driven and measured by the real pieces.

A scenario (`scenario`, `catalogue`) says what the scripted server does; `layout` puts scenarios of
the same setup one after another into one run; `trial` drives the real generator at it;
`truth` reads what the server says it did; `judgement` compares, and `table` says it.
`false_alarms` is about what the detectors see where there is nothing.
"""
