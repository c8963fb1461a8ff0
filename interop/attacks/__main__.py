"""Runs the attacks alone: `cd interop && python3 -B -m attacks PROGRAM [FAMILY…]`."""

import sys
from pathlib import Path

from attacks import suite

if __name__ == "__main__":
    sys.exit(suite.main(Path(sys.argv[1]).resolve(), sys.argv[2:]))
