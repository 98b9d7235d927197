"""The one exception family that ttikit raises on purpose."""


class TtiError(Exception):
    """Something a person can mend: one sentence says what is wrong and what to do.

    The command line prints it on standard error and ends with status 2, without a traceback.
    """
