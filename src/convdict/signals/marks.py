"""Names that folders are known by."""

RUN_MARK = ".convdict-run"  # a folder with this file is a run's, and holds no signals
