"""Acknowledged before it is on the disk: after a power cut an order is missing. Mended: fsync comes before the answer.

/srv is on a disk that may lose what is not synced; what is in /tmp stands for what customers have been told.
"""

import os
import sys
import time

orders = os.open("/srv/orders", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
os.fsync(orders)
os.fsync(os.open("/srv", os.O_RDONLY))
told = os.open("/tmp/told", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
known = set(os.pread(orders, 1 << 20, 0).split(b"\n"))
for order in os.pread(told, 1 << 20, 0).split():
    if order not in known:
        sys.exit(f"{order.decode()} was promised, and is lost")
for number in range(len(os.pread(told, 1 << 20, 0).split()), 40):
    order = b"order-%d\n" % number
    os.write(orders, order)
    if os.environ.get("MENDED"):
        os.fsync(orders)
    os.write(told, order)
    time.sleep(0.5)
