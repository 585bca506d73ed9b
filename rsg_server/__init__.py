"""The server of a run: the package owns virtual time, decides which emulated thread runs, and models hosts, sockets and
the network. The package knows nothing of the programs that run on the hosts.
"""

from rsg_server import compiled

compiled.choose()
