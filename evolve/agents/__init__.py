"""Memory architectures."""
