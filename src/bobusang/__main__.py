"""`python -m bobusang`: the command line, for whoever has no `bobusang` on the path."""

import sys

from bobusang.entry.cli import main

if __name__ == "__main__":
    sys.exit(main())
