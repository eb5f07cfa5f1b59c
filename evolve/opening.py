"""What every run opens before its first rollout: models, workers, the watch over its budget."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evolve.budget import Ledger
from evolve.connecting import Site, connected, make_workers
from evolve.evaluate import Evaluator
from evolve.journal import Journal
from evolve.lm.models import Connection
from evolve.money import Purse, Terms, Timed
from evolve.prepare import Prepared
from evolve.probing import Probing

if TYPE_CHECKING:
    from evolve.policy_run import Watch


@dataclass(frozen=True, slots=True)
class Opened:
    """What was opened.

    Attributes:
        evaluator: Scores and pays.
        purse: Watches over the budget.
        connection: To real models, if there are any.
    """

    evaluator: Evaluator
    purse: Purse
    connection: Connection | None


@dataclass(frozen=True, slots=True)
class Opening:
    """A run that is about to begin.

    Attributes:
        prepared: What it reads.
        site: Where its rollouts run.
        journal: Its journal.
        watch: Who watches.
        stack: Closes what is opened.
    """

    prepared: Prepared
    site: Site
    journal: Journal
    watch: Watch
    stack: ExitStack

    def open(self, terms: Terms, ledger: Ledger, architectures: tuple[str, ...] = ()) -> Opened:
        """Open it.

        Args:
            terms: The budget as it was settled.
            ledger: Is charged.
            architectures: Whose states may be probed in one call a period, if that changes little.
        """
        prepared, journal, display = self.prepared, self.journal, self.watch.display
        models, means = prepared.options.models, self.site.means
        connection = self.stack.enter_context(connected(models, means, journal.folder))
        workers = make_workers(self.stack, prepared.spec, self.site, connection)
        purse = Purse(terms, connection, journal.folder, display.say)
        self.stack.callback(purse.close)
        if "minutes" in terms.budget:
            workers = Timed(workers, purse)

        def progress(lived: float) -> None:
            display.progress(lived, replayed=journal.replaying)
            purse.look(lived, replayed=journal.replaying)

        stopping = self.watch.stopping
        probing = Probing(architectures, display.say)
        evaluator = Evaluator(journal, ledger, workers, prepared.spec, stopping, progress, probing)
        return Opened(evaluator, purse, connection)
