"""Write the report as one HTML page that needs no network: it contains the style, the script and the script's
libraries.
"""
