"""HTCondor: pools of condor_master and the daemons that it starts."""
