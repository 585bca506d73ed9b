"""The report as one HTML page that needs no network: it contains template, style, script and the libraries of the script."""
