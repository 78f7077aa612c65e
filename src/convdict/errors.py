"""What can go wrong, under one base, each with a sentence that says what to do."""


class ConvdictError(Exception):
    """Base of every error that convdict raises on purpose."""


class InputError(ConvdictError, ValueError):
    """An argument cannot be used; the message names what came and what was wanted."""


class NotFittedError(InputError, AttributeError):
    """A learner was asked for what it has not learned yet."""


class FileFormatError(ConvdictError, ValueError):
    """A file is not what it claims to be, is damaged, or comes from a newer release."""


class ConvdictWarning(UserWarning):
    """Base of every warning that convdict gives."""


class ConvergenceWarning(ConvdictWarning):
    """A solver stopped before its certificate reached the tolerance."""


class ArtefactWarning(ConvdictWarning):
    """The result is correct, but the circular boundary will show in it."""


class ConversionWarning(ConvdictWarning):
    """Input was converted to floating point before use."""
