"""Every error that Mnemotune raises on purpose, in one tree.

```
MnemotuneError
├── UserError              the user can mend it: one sentence, exit status 2, no traceback
│   ├── PolicyFileError        a policy file or its content breaks a rule
│   ├── EnvironmentFileError   an environment file breaks a rule
│   ├── ExportError            a policy that a target cannot take, or a file that it cannot go to
│   ├── OutputFileError        a file that is to be written, where another stands that must stay
│   ├── ImportSourceError      a prompt or a configuration that no policy can be made from
│   ├── ReferenceRunError      a published run's files cannot be read or do not fit the environment
│   ├── ConfigError            options that contradict each other or lie outside their range
│   ├── BudgetTooSmallError    the budget does not buy one full proposal
│   ├── RunFolderError         a run folder that is in use, of another schema, or of another run
│   ├── LostProcessError       a process that lived rollouts was ended from outside
│   ├── AgentError             a memory system of the user's own breaks the contract, or fails
│   ├── ModelError             a model that cannot be used as it is named: key, name, address
│   ├── GenerationError        a model could not write what an environment needs
│   ├── TooManyFailuresError   too much failed for outside reasons; the run can be resumed
│   └── AllFailedError         every rollout that a run would learn from failed
├── BudgetExhaustedError   the ledger has no room for a reservation; ends a run, never a crash
├── RunStoppedError        the user asked a run to stop; all that was done is in its journal
├── RejectedTextError      a rewritten text breaks a rule; recorded, never repaired
├── PolicyFailureError     a policy's own failure during a rollout; rejects the candidate
└── OutsideFailureError    network or provider; drops the pair on both sides
```

Messages give the rule, the value found and the next step, in one sentence.
"""


class MnemotuneError(Exception):
    """Base of every error raised on purpose."""


class UserError(MnemotuneError):
    """Something that the user can mend; commands print it alone and exit with status 2."""


class PolicyFileError(UserError):
    """A policy file, or the policy in it, breaks a rule."""


class EnvironmentFileError(UserError):
    """An environment file breaks a rule."""


class ExportError(UserError):
    """A policy cannot be exported as it was asked for."""


class ImportSourceError(UserError):
    """A prompt or a configuration of another system cannot become a policy."""


class OutputFileError(UserError):
    """A file would be written where another stands that must stay."""


class ReferenceRunError(UserError):
    """The files of a published run cannot be read, or do not fit the environment file."""


class ConfigError(UserError):
    """Options that contradict each other or lie outside their range."""


class BudgetTooSmallError(UserError):
    """The budget does not buy one full proposal."""


class RunFolderError(UserError):
    """A run folder is in use, has another schema, or belongs to another run."""


class LostProcessError(UserError):
    """One of a run's processes was ended from outside, most often for lack of memory."""


class AgentError(UserError):
    """A memory system of the user's own cannot be loaded, breaks the contract, or failed."""


class ModelError(UserError):
    """A provider takes no request as ours are made: its key, name, address or a parameter."""


class GenerationError(UserError):
    """A model could not write what an environment needs, however often it was told."""


class TooManyFailuresError(UserError):
    """Too much failed for outside reasons, such as a provider that is down, to go on with a run."""


class AllFailedError(UserError):
    """Every rollout that a run would learn from failed, so there is nothing to learn."""


class BudgetExhaustedError(MnemotuneError):
    """The ledger has no room for what was asked; nothing was reserved."""


class RunStoppedError(MnemotuneError):
    """The user asked the run to stop, and it did so at a safe point; it can be resumed."""


class RejectedTextError(MnemotuneError):
    """A rewritten text breaks a rule of the design; its message is the recorded reason."""


class PolicyFailureError(MnemotuneError):
    """A rollout failed through the policy itself, such as a context that is too long."""


class OutsideFailureError(MnemotuneError):
    """A rollout failed for outside reasons: network, provider."""
