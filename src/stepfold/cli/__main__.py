"""`python -m stepfold.cli` is the command `stepfold`."""

import sys

from stepfold.cli import main

if __name__ == "__main__":
    sys.exit(main())
