"""threading: events with timeouts, queues, timers, a lock that many want."""

# virtual: 10
import queue
import threading
import time

start_s = time.monotonic()
event = threading.Event()
assert not event.wait(4)
threading.Timer(2, event.set).start()
assert event.wait(100)
assert 6 <= time.monotonic() - start_s < 6.5

items: queue.Queue[int] = queue.Queue(2)


def produce() -> None:
    for number in range(8):
        time.sleep(0.5)
        items.put(number)


thread = threading.Thread(target=produce)
thread.start()
assert [items.get(timeout=5) for _ in range(8)] == list(range(8))
thread.join()
assert 10 <= time.monotonic() - start_s < 10.5
print("EXIT-SUCCESS")
