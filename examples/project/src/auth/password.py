"""Comparing passwords."""

import hashlib
import hmac


def matches(password, password_hash):
    """Compare in constant time."""
    digest = hashlib.sha256(password.encode()).hexdigest()
    return hmac.compare_digest(digest, password_hash)
