"""How fast blanks are filled and texts scored beside other libraries: `make peers`.

Each side is a process of its own, with one thread and the packages that it starts with; the two take turns on the same
texts, blanks and model. `cases` has what they are given, `sides` how each is started, `worker` the process, `turns` the
measurement, and `page` what docs/performance.md shows of the rows.
"""
