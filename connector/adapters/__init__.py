"""The outside world behind the ports: Kafka, SQL, and the in-memory ones that ship with it."""
