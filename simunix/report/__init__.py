"""Reports: what is shown of finished runs, as a page, as figures, as a trace for viewers, as files for other tools."""
