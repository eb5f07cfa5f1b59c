"""The boundary to models, and the offline stand-in."""
