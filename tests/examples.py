"""How many examples a property is tried with: usually few; a soak asks for many."""

import os

VARIABLE = "AIDEN_EXAMPLES"


def examples(usual: int) -> int:
    """Return how many examples to try; ``script/soak`` sets the variable."""
    return int(os.environ.get(VARIABLE, usual))
