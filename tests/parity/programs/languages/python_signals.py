"""signal: an alarm's handler runs during a sleep, which goes on; set_wakeup_fd; a child that is terminated."""

# virtual: 10
import os
import signal
import time

caught: list[int] = []
signal.signal(signal.SIGALRM, lambda number, frame: caught.append(number))
start_s = time.monotonic()
signal.alarm(2)
time.sleep(6)
assert caught == [signal.SIGALRM]
assert 6 <= time.monotonic() - start_s < 6.5
child = os.fork()
if child == 0:
    time.sleep(1000)
    os._exit(0)
time.sleep(4)
os.kill(child, signal.SIGTERM)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGTERM
assert 10 <= time.monotonic() - start_s < 10.5
print("EXIT-SUCCESS")
