"""The conformance table: situations times fronts.

`situations.py` has the rows of the table, `files.py`, `objects.py`, `libraries.py` and `service.py` its columns, `table.py` compares the
cells and writes the page. A situation joins by one entry of `SITUATIONS`, a front by a small class and one entry of `FRONTS`.
"""
