"""What other systems are configured with, as policies: one module for each kind of source."""
