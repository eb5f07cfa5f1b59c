# %% [markdown]
# # Several runs side by side
#
# A run and those beside it: what each found on its test users, and their best versions compared on
# the test users that two of them share.

# %%
RUN = "latest"  # or a name in runs/, or the path of a run folder
MOST = 12  # runs that are read: this one, then those that changed last

# %%
import os
from pathlib import Path

if Path.cwd().name == "notebooks":  # editors start a notebook beside its file
    os.chdir("..")

# %matplotlib inline
from evolve.results import comparison, plots
from evolve.results.run_record import find_run

records, unread = comparison.read_beside(find_run(RUN), MOST)
print(f"{len(records)} runs: {', '.join(record.name for record in records)}")
for reason in unread:
    print(f"not read: {reason}")

# %% [markdown]
# ## In what they differ

# %%
comparison.differing_options(records)

# %% [markdown]
# ## What each found
#
# On the left the memory score of all that a run scored on its test users, on the right how much
# better the best version is than the seed there. Runs on other users, or with other models, are
# not comparable by these numbers.

# %%
ends = comparison.ends(records)
plots.runs(ends)

# %%
ends.set_index("run").round(3)

# %% [markdown]
# ## Best against best
#
# The paired difference of two best versions on the test users of both, `run` less `other`, with its
# 95 % interval. Many pairs at once find something by chance: with ten pairs of equals, one interval
# without zero is no surprise.

# %%
comparison.pairs(records).round(3)
