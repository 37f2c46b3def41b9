from auth.login import MAX_ATTEMPTS


def test_there_is_a_limit():
    assert MAX_ATTEMPTS == 5
