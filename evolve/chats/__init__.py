"""Your own conversations as an environment: exported chats, and probes of what is true when."""
