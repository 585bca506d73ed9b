"""The server sends signals by the kernel to real processes, and sees their effects."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from rsg_server.process import native_signal

BUSY_THREADS = """
import os, threading
def spin():
    while True:
        os.sched_yield()
for _ in range(30):
    threading.Thread(target=spin).start()
print(flush=True)
spin()
"""


def test_a_process_is_stopped_once_all_its_threads_are() -> None:
    with subprocess.Popen([sys.executable, "-c", BUSY_THREADS], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline()
        try:
            for _ in range(20):
                os.kill(process.pid, signal.SIGSTOP)
                while native_signal.thread_state(process.pid, process.pid) != "T":
                    pass
                native_signal.await_rests(process.pid)
                assert os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOHANG) is not None
                os.kill(process.pid, signal.SIGCONT)
        finally:
            process.kill()
