"""`python -m mlm_vs_clm <tool or stage>`, which is the command `mlm-vs-clm` too."""

import sys

from .tools.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
