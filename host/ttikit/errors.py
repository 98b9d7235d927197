"""The one exception family that ttikit raises on purpose."""


class TtiError(Exception):
    """Something a person can mend: the text is one sentence that says what is wrong and what to do.

    The command line prints the text on standard error and ends with status 2, without a traceback.
    """
