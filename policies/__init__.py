"""Memory policies: what is evolved."""
