"""From a site's own files to a scenario that runs."""
