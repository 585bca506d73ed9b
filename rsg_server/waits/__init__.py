"""The kinds of waits of actors: what each begins, what ends it, and how reports describe it. This folder is a layer
above processes, sockets and storages, whose code knows only the base class of waits (rsg_server/process/wait.py).
"""
