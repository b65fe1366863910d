"""Identifiers that look like the vendor's."""

import secrets
import string

_ALPHABET = string.ascii_letters + string.digits


def new_id(prefix: str, length: int = 21) -> str:
    """Return ``prefix`` and random letters and digits, as in ``event_CdulTJIOI2YjBMxYUiRzZ``."""
    return f"{prefix}_{''.join(secrets.choice(_ALPHABET) for _ in range(length))}"
