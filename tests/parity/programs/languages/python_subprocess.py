"""subprocess: output, input, timeout, kill, and a pipeline of two."""

# virtual: 10
import subprocess
import time

start_s = time.monotonic()
assert subprocess.run(["sh", "-c", "sleep 3; echo out"], capture_output=True, text=True, check=True).stdout == "out\n"
assert time.monotonic() - start_s >= 3
try:
    subprocess.run(["sleep", "1000"], timeout=7)
except subprocess.TimeoutExpired:
    pass
else:
    raise AssertionError("no timeout")
assert 10 <= time.monotonic() - start_s < 11
assert subprocess.run(["tr", "a-z", "A-Z"], input="text", capture_output=True, text=True, check=True).stdout == "TEXT"
assert subprocess.run("echo b; echo a", shell=True, capture_output=True, check=True).stdout == b"b\na\n"
print("EXIT-SUCCESS")
