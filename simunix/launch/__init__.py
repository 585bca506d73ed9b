"""From a plan to running processes: containers, what hosts see, supervision, the run itself. Knows no scenario and no RJMS."""
