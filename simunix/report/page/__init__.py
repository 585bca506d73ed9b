"""The report of several runs as one HTML page that needs no network: template, style, script and the libraries it carries."""
