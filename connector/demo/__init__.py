"""A simulated labelling platform on an embedded broker: the whole service on one machine."""
