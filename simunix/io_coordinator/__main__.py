"""Run the I/O coordinator's daemon: `python3 -m simunix.io_coordinator`."""

import sys

from simunix.io_coordinator.daemon import main

sys.exit(main())
