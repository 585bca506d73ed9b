"""The adapter for HTCondor: pools of condor_master and the daemons that condor_master starts."""
