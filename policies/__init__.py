"""What is evolved: memory policies, their files and the rules for their texts."""
