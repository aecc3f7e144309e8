"""What the client's errors mean to us."""

from __future__ import annotations

from kafka import errors

from connector.domain.errors import (
    ConfigurationError,
    CrowdResolveError,
    DependencyError,
    Fenced,
    Refused,
)

_FENCED = (
    errors.ProducerFencedError,
    errors.InvalidProducerEpochError,
    errors.CommitFailedError,
    errors.FencedInstanceIdError,
    errors.IllegalGenerationError,
    errors.UnknownMemberIdError,
    errors.RebalanceInProgressError,
)

_RIGHTS = (
    "access is denied: grant this user READ on the annotations topic and on the group, WRITE on "
    "all topics and on the transactional id; CREATE on the topics for `topics create`"
)

_WHAT_TO_DO: tuple[tuple[type[BaseException], str], ...] = (
    (
        errors.SaslAuthenticationFailedError,
        "the broker does not accept the credentials: check --kafka sasl_mechanism and sasl_plain_*",
    ),
    (
        errors.AuthorizationError,
        _RIGHTS,
    ),
    (errors.InvalidSessionTimeoutError, "set --kafka session_timeout_ms to what the broker allows"),
    (
        errors.InconsistentGroupProtocolError,
        "the group is used by another kind of consumer: choose another --group",
    ),
    (errors.InvalidGroupIdError, "choose another --group"),
    (errors.GroupMaxSizeReachedError, "the broker allows no more members in the group"),
    (
        errors.UnsupportedVersionError | errors.IncompatibleBrokerVersion,
        "the broker is too old, or does not have all that Kafka has",
    ),
    (errors.KafkaConfigurationError, "check the --kafka settings"),
    (errors.InvalidTopicError, "choose another name for the topic"),
    (errors.PolicyViolationError, "the cluster's policy does not allow it"),
    (errors.InvalidReplicationFactorError, "choose another --replication-factor"),
    (errors.InvalidPartitionsError, "choose another number of --partitions"),
)


def explained(error: BaseException, doing: str) -> CrowdResolveError:
    """Our error for one of the client's, with what could not be done and what to do."""
    if isinstance(error, CrowdResolveError):
        return error
    if isinstance(error, _FENCED):
        return Fenced(f"{doing}: another process has taken over ({_said(error)})")
    if isinstance(error, errors.OffsetOutOfRangeError):
        return Refused(
            f"{doing}: the log does not have the offset that comes next ({_said(error)}). Records "
            "were deleted before they were read; `crowdresolve run --rebuild` goes on without them"
        )
    if isinstance(error, errors.LogTruncationError):
        return Refused(
            f"{doing}: the log has lost records that were already read ({_said(error)}), as after "
            "an unclean leader election; `crowdresolve run --rebuild` starts again from what it has"
        )
    for kind, advice in _WHAT_TO_DO:
        if isinstance(error, kind):
            return ConfigurationError(f"{doing}: {advice} ({_said(error)})")
    return DependencyError(f"{doing}: {_said(error)}")


def _said(error: BaseException) -> str:
    return str(error) or type(error).__name__
