"""Run a policy on Slurm: python3 -m simunix.rjms.slurm.policy LOG POLICY [--goes-on] [OPTION=VALUE …].

LOG is the log of slurmctld, which tells when something happens.
"""

import sys

from simunix.policy.daemon import serve
from simunix.rjms.slurm.policy.port import SlurmPort

serve(SlurmPort(sys.argv[1]), sys.argv[2:])
