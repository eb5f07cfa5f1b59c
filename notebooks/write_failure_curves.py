# %% [markdown]
# # Where memory fails
#
# Each wrong answer fails at the first stage that went wrong: **write** (the value never reached
# memory), **read** (it did, and was not found), **utilization** (it was known, and the answer was
# wrong all the same), or **format** (no choice could be read). Here they are per period, per state
# type and per generation, with 95 % intervals over users.

# %%
RUN = "latest"  # or a name in runs/, or the path of a run folder

# %%
import os
from pathlib import Path

if Path.cwd().name == "notebooks":  # editors start a notebook beside its file
    os.chdir("..")

# %matplotlib inline
from evolve.results import curves, plots
from evolve.results.run_record import find_run, read_run

record = read_run(find_run(RUN))
cohort = curves.cohort_of(record)
print(f"{record.name}, {record.models.model} model")
print(cohort or "no answers that policies can be compared on")

# %% [markdown]
# ## Per period
#
# Memory score: 0 is guessing, 1 is the same model when it is told the true states. All policies
# were asked the same questions. Where the test users are not scored yet, or never will be, these
# are gate or train users, on which the best version looks better than it is.

# %%
periods = curves.by_period(cohort)
plots.by_period(periods)

# %%
periods.pivot_table(index="period", columns=["measure", "policy"], values="mean", sort=False).round(
    2
)

# %% [markdown]
# ## Per state type
#
# Of the answers that need a state, the share that failed because of it. Few users need any one
# state, so the intervals are wide: what they show is where to look, not what differs.

# %%
truths = {user.id: user.truth() for user in record.users or ()}
states = curves.by_state(cohort, truths)
plots.by_state(states)

# %% [markdown]
# ## Per generation
#
# What the seed and each accepted version got wrong on gate or train users. A version was accepted
# because it did well there, so its gain on test users is the one to believe.

# %%
generations = curves.by_generation(record)
plots.by_generation(generations)

# %%
generations.pivot_table(
    index=["version", "generation"], columns="measure", values="mean", sort=False
).round(3)
