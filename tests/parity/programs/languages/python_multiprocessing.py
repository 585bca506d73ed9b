"""multiprocessing: a pool whose workers sleep, a queue, a lock and an event between processes."""

# virtual: 10
import multiprocessing
import time


def slow_square(number: int) -> int:
    time.sleep(2)
    return number * number


def main() -> None:
    context = multiprocessing.get_context("fork")
    start_s = time.monotonic()
    with context.Pool(3) as pool:
        assert pool.map(slow_square, range(6), chunksize=1) == [0, 1, 4, 9, 16, 25]
    assert 4 <= time.monotonic() - start_s < 4.9
    event = context.Event()
    process = context.Process(target=event.wait)
    process.start()
    time.sleep(6)
    assert process.is_alive()
    event.set()
    process.join()
    assert process.exitcode == 0
    assert time.monotonic() - start_s >= 10


main()
print("EXIT-SUCCESS")
