"""Pages of commands: one HTML file each, which loads nothing from elsewhere and prints on A4.

    page        makes a page from a template, with all text escaped
    plots       plots as SVG, identical bytes for identical figures
    file        the file of a page, and its allowed names
    page.html   the parts that all pages share: policy, look
    parts.html  tables and figures

`page` and `plots` import jinja2 and matplotlib, so commands import these two only to make a page.
"""
