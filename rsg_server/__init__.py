"""The remote simulation server: clock, turn, hosts, sockets, network. Knows nothing of what runs on it."""

from rsg_server import compiled

compiled.choose()
