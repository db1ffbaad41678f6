"""`python -m mlm_vs_clm.corpora`: fetch the data packages."""

import sys

from .packages import main

sys.exit(main())
