"""`python3 -m simunix.io_coordinator` runs the daemon."""

import sys

from simunix.io_coordinator.daemon import main

sys.exit(main())
