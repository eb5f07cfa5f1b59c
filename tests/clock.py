"""Time that a test took of the processor, which a busy machine hardly changes."""

import resource


def cpu_of_children() -> float:
    """Seconds that ended child processes took of the processor."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
