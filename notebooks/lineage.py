# %% [markdown]
# # Where the policies come from
#
# The family tree of a run, and for each accepted change: what was changed, and which failures that
# removed and brought.

# %%
RUN = "latest"  # or a name in runs/, or the path of a run folder

# %%
import os
from pathlib import Path

if Path.cwd().name == "notebooks":  # editors start a notebook beside its file
    os.chdir("..")

# %matplotlib inline
from IPython.display import HTML, Markdown, display

from evolve.results import lineage, plots
from evolve.results.family_plot import family
from evolve.results.run_record import find_run, read_run
from evolve.results.side_by_side import as_html

record = read_run(find_run(RUN))
print(f"{record.name}: {len(record.candidates)} candidates, {len(record.versions) - 1} accepted")

# %% [markdown]
# ## Family tree
#
# A line leads from a policy to what was made of it; a dotted one from the second parent of a merge.

# %%
tree = lineage.family(record)
family(tree)

# %%
tree[["name", "operator", "stage", "difference", "tokens"]].round(3)

# %% [markdown]
# ## Each accepted change
#
# On the left what the candidate was compared with. Failures are counted on all answers that both
# policies gave, the gate's included, which accepted the change: part of what it removed there is
# luck. A failure that leaves one stage often turns up at the next: what is written at last must be
# found and used, too.

# %%
for candidate in lineage.accepted(record):
    before = record.policies[candidate.verdict.incumbent]
    display(Markdown(f"### {candidate.name}: {candidate.operator}\n\n{candidate.verdict.reason}"))
    display(HTML(as_html(before, candidate.policy)))
    change = lineage.change_of(record, before.id, candidate.policy.id)
    display(plots.removed(lineage.removed(change)))
    display(lineage.moves(change))

# %% [markdown]
# ## From the seed to the best
#
# All changes together, side by side.

# %%
HTML(as_html(record.seed, record.best))
