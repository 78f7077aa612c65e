"""Where data comes from, and what is done to it before it is coded."""

from .lowpass import lowpass_split, lowpass_split_tv

__all__ = ["lowpass_split", "lowpass_split_tv"]
