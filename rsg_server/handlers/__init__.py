"""The functions that handle the messages of emulated processes, in a file for each family of system calls.

The files are named like the folders of csrc/shim/sys. A file has a class for each family. The constructor of the class
takes the objects that the handlers use, the methods are the handlers, and `table` returns the handler for each kind of
message. rsg_server.wiring joins the tables.

The docstring of a handler ends with the shapes of the message and of its reply: [arguments] -> [values of the reply].
"+ fd" says that the reply carries a descriptor. The first value of a reply is a status: 0, or a negative errno
(`-ENOENT`).
"""
