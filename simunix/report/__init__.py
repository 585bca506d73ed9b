"""Report on finished runs: as a page, as figures, as a trace for viewers, and as files for other tools."""
