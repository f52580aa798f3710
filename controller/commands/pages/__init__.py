"""Pages of commands: one HTML file each, which loads nothing from elsewhere and prints on A4.

    page        makes a page from a template, with all text escaped, and plots
    file        the file of a page, and its allowed names
    page.html   the parts that all pages share: policy, look
    parts.html  tables and figures

`page` imports jinja2 and matplotlib, so commands import it only to make a page.
"""
