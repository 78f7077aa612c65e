"""One file per rival.

Solvers of one image: `solve(problem, ...)` gives codes that the judge can read. A rival may
also be watched: `watch(iteration, codes)` is called after every iteration, and ends the run by
returning True.

Learners: `learn(images, d, ...)` gives a dictionary (M, rows, columns) learned from `d`; here
it is `watch(dictionary)`, after every step, and the array may be the learner's own.

Restorers: from a noisy image, or from a damaged one and where it was seen, they give an image.
Channels come last, if there are any.
"""
