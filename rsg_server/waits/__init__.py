"""The kinds of waits: what each begins, what ends it, and how reports describe it.

This folder is a layer above processes, sockets and storages. These know a wait by its base class only
(rsg_server/process/wait.py).
"""
