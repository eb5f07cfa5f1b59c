# %% [markdown]
# # What the settings did
#
# The settings of a policy, such as `top_k`, are searched by Optuna together with the texts. Here is
# what changing them did to each stage, how much each matters, and what accuracy costs in tokens.

# %%
RUN = "latest"  # or a name in runs/, or the path of a run folder
SETTING = "top_k"  # the first to look at
OTHERS = 3  # more of them, those that were changed most often

# %%
import os
import warnings
from pathlib import Path

if Path.cwd().name == "notebooks":  # editors start a notebook beside its file
    os.chdir("..")

# %matplotlib inline
warnings.filterwarnings("ignore", "IProgress not found")  # of progress bars that nobody shows
from IPython.display import display

from evolve.results import plots, settings_study
from evolve.results.run_record import find_run, read_run

record = read_run(find_run(RUN))
changed = settings_study.changed_settings(record)
print(f"{record.name}: scored candidates changed {', '.join(changed) or 'no setting'}")

# %% [markdown]
# ## Effect on each stage
#
# A line leads from the version that a candidate was compared with to the candidate, its mark at the
# candidate's end. Both are counted on the answers that both gave, so the slope is the effect of the
# change, of nothing but this setting where the line is solid. The height of a line depends on
# the users and texts of its time.

# %%
effects = settings_study.effects(record, changed)
plots.effect(effects, SETTING)

# %%
for setting in [name for name in changed if name != SETTING][:OTHERS]:
    display(plots.effect(effects, setting))

# %% [markdown]
# ## The study
#
# Optuna's study, rebuilt from the journal: every candidate that was scored, or heard off-policy,
# with other settings than what it was compared with. `difference` is what its settings did to
# accuracy by themselves, as far as that can be told apart from new texts, against the best version.

# %%
study = settings_study.study(record)
settings_study.trials(study).round({"difference": 3, "tokens": 0})

# %% [markdown]
# Importance is the share of the spread in `difference` that a setting accounts for by itself or
# together with others (functional ANOVA). Of a few dozen trials it is a hint, no more.

# %%
plots.importance(settings_study.importance(study))

# %% [markdown]
# ## Accuracy and cost
#
# Policies on the line are those that no other beats in accuracy and in tokens at once: the run's
# `pareto.yaml`.

# %%
front = settings_study.trade_off(record)
plots.trade_off(front)

# %%
front.drop(columns="policy").round({"accuracy": 3, "tokens": 0})
