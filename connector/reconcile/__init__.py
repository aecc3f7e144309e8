"""The scheduled job: reads a project's votes as they stand, computes, and sends what it found.

It writes nothing of what the consumer keeps: its result travels through the log (README, "The
scheduled job").
"""
