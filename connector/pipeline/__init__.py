"""The one way that data flows: decode, apply, store, publish; and how it recovers."""
