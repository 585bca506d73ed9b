"""The kinds of waits: what each begins, what ends it, and how reports describe it.

Stands above processes, sockets and storages, which know a wait by its base class only (rsg_server/process/wait.py).
"""
