"""What can be wrong with a service."""


class ServiceUnavailable(Exception):
    """There is no such service here. The message says what was tried and what to install."""


class CannotCrash(Exception):
    """The service is not ours (the environment names it): it is not stopped, killed or started."""
