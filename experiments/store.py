"""List what is stored, check it, or remove it: `python experiments/store.py list | remove <stage or stage/id> ...`."""

import sys

from mlm_vs_clm.pipeline.inventory import main

if __name__ == "__main__":
    sys.exit(main())
