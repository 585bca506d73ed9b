"""`simunix bench`: the cost of simunix on this computer, compared with other tools in one run."""
