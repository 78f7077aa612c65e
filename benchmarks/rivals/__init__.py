"""One file per rival: `solve(problem, ...)` gives codes that the judge can read.

A rival may also be watched: `watch(iteration, codes)` is called after every iteration,
and ends the run by returning True.
"""
