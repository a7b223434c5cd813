"""What all tests share: none touches what the user's own tunings have found.

Programs and scripts that tests start inherit it; tests of the knowledge file name one of their own.
"""

from __future__ import annotations

import os

os.environ["MNEME_KNOWLEDGE"] = "off"
