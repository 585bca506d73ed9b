"""The server of a run: the package owns virtual time, decides which emulated thread runs, and models hosts, sockets and
the network. It knows of no RJMS and of no job.
"""

from rsg_server import compiled

compiled.choose()
