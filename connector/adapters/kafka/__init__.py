"""The log on Apache Kafka, through kafka-python.

`source` and `sink` are the pipeline's two ports, `admin` makes and checks topics, `client` turns
settings into the client's arguments.  Whatever leans on more than kafka-python's public surface
is in `quirks` and `ready`, and only there.
"""
