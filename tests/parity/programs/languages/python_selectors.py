"""selectors and socket.socketpair: a timeout, a wake-up, a server made by socketserver in a thread."""

# virtual: 10
import selectors
import socket
import socketserver
import threading
import time


class Upper(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        for line in self.rfile:
            time.sleep(2)
            self.wfile.write(line.upper())


start_s = time.monotonic()
one, two = socket.socketpair()
with selectors.DefaultSelector() as selector:
    selector.register(one, selectors.EVENT_READ)
    assert selector.select(timeout=4) == []
    threading.Timer(2, two.send, [b"x"]).start()
    assert len(selector.select(timeout=100)) == 1
assert 6 <= time.monotonic() - start_s < 6.5
with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Upper) as server:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with socket.create_connection(server.socket.getsockname()) as client, client.makefile("rw") as stream:
        for text in ("first\n", "second\n"):
            stream.write(text)
            stream.flush()
            assert stream.readline() == text.upper()
    assert 10 <= time.monotonic() - start_s < 10.5
    server.shutdown()
print("EXIT-SUCCESS")
