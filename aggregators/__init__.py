"""Truth inference for crowdsourced labels: pure numerics, no I/O."""
