"""Pages of commands: one HTML file each, which loads nothing from elsewhere and prints on A4.

    page        a page from a template, with every text escaped
    plots       plots as SVG, the same bytes for the same figures
    file        the file of a page, and what it may be called
    page.html   what all pages share: policy, look
    parts.html  tables and figures

`page` and `plots` import jinja2 and matplotlib: a command imports these where a page is asked for.
"""
