"""Message handlers, one file for each family of system calls, named like the folders of csrc/shim/sys.

A file contains a class for each family. The constructor of the class takes the objects that the handlers use, the methods
are the handlers, and `table` returns the method for each operation. rsg_server.wiring joins the tables.

The docstring of a handler begins with the shapes of message and reply: [arguments] -> [values of the reply]. "+ fd" means
that the reply carries a descriptor. The first value of a reply is a status: 0, or a negative errno (`-ENOENT`).
"""
