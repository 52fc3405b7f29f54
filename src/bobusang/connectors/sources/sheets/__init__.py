"""Spreadsheets of suppliers: opened with care, their header found, their rows cut into pages that a shop reads.

`opening.opened` makes a `Grid` of XLSX, XLS, CSV or TSV or says why not; `heading.found` finds the header;
`mapping` proposes which column is which field and makes a shop of it; `cutting.Cutter` groups rows into products and
pages; `checking.check` reads all of it without writing anything, and tells what is wrong with which cell.
"""
