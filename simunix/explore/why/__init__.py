"""Why a run has failed: the choice that decides, what happens there, and how likely the failure is."""
