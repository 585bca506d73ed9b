"""From a described emulation to running processes: containers, environment, the run itself, joining it."""
