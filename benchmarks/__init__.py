"""Commands that measure what is claimed of Mnemotune; each fails when a claim stops being true."""
