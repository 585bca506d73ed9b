"""Message handlers, one file per system-call family, as the folders of csrc/shim/sys are.

A file has a class for each family: its constructor takes the objects that the handlers use, its methods are the handlers, and
its table says of each operation which arguments it has and which method handles it. rsg_server.wiring makes the whole table.
"""
