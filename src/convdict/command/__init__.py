"""The command line: what happens between a shell and the library."""
