"""Logging in."""

from auth.password import matches

MAX_ATTEMPTS = 5


def log_in(user, password, attempts):
    """Return True if the user may enter."""
    if attempts > MAX_ATTEMPTS:
        return False
    # TODO: tell the user how many attempts are left
    return matches(password, user.password_hash)
