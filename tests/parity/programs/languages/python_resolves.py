"""socket.getaddrinfo, gethostname and getfqdn work from Python as from C."""

import socket

assert socket.gethostbyname("localhost").startswith("127.")
found = socket.getaddrinfo("127.0.0.1", 80, type=socket.SOCK_STREAM)[0]
assert (found[0], found[1], found[4]) == (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 80))
assert socket.gethostname()
assert socket.gethostbyname(socket.gethostname())
try:
    socket.getaddrinfo("does-not-exist.invalid", 80)
except socket.gaierror:
    pass
else:
    raise AssertionError("found")
print("EXIT-SUCCESS")
