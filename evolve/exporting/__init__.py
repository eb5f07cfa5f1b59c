"""Policies as other systems take them: one module for each format."""
