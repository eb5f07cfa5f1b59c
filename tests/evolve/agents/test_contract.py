"""The checks of the contract: what is built in keeps all, and each breach is named by its own."""

from dataclasses import replace
from itertools import count

import pytest

from evolve.agents.base import Prepared
from evolve.agents.common import Speaker
from evolve.agents.contract import CHECKS, breaches
from evolve.agents.example import UserWords
from evolve.agents.own import declare_class
from evolve.check_agent import idle_parts, trial_of
from evolve.config import environment_path
from evolve.gym.users import load_users
from evolve.lm.base import Completion
from evolve.lm.offline import OfflineLM
from feedback.records import Context
from policies.errors import MnemotuneError
from policies.policy import BUILT_IN, seed_policy

COUNTER = count()


@pytest.fixture(scope="module")
def user():
    return load_users(environment_path("sample"))[0]


@pytest.mark.parametrize("architecture", [name for name in BUILT_IN if name != "none"])
def test_what_is_built_in_keeps_the_contract(architecture, user):
    assert breaches(trial_of(seed_policy(architecture), user, OfflineLM())) == {}


def test_no_memory_is_found_out(user):
    found = breaches(trial_of(seed_policy("none"), user, OfflineLM()))
    assert found == {
        "instances share nothing, and each remembers": (
            "of a conversation nothing is in memory, and nothing in context"
        )
    }


class Notes(UserWords):
    """Stores in reply."""

    def reply(self, message):
        self.observe([message])
        return super().reply(message)


class Caller(UserWords):
    def prepare(self, query):
        prepared = super().prepare(query)
        self._speaker.lm.complete(prepared.request)
        return prepared


class OtherSeed(UserWords):
    def prepare(self, query):
        prepared = super().prepare(query)
        return Prepared(replace(prepared.request, seed=1), prepared.context)


class OtherContext(UserWords):
    def prepare(self, query):
        return Prepared(super().prepare(query).request, Context((0, 999)))


class OtherIds(UserWords):
    def observe(self, messages):
        super().observe(messages)
        self.entries = tuple(replace(entry, id=entry.id + 1) for entry in self.entries)


class NoSources(UserWords):
    def observe(self, messages):
        super().observe(messages)
        self.entries = tuple(replace(entry, sources=("9.9.9.u",)) for entry in self.entries)


class NoTime(UserWords):
    def observe(self, messages):
        super().observe(messages)
        self.entries = tuple(replace(entry, session=0) for entry in self.entries)


class Batches(UserWords):
    def observe(self, messages):
        super().observe(messages[:1])


class Chance(UserWords):
    def reply(self, message):
        self._speaker.seed = next(COUNTER)
        return super().reply(message)


class Shared(UserWords):
    kept = []  # noqa: RUF012

    def __init__(self, speaker):
        super().__init__(speaker)
        self.kept.extend("x")
        if len(self.kept) > 1:
            self.entries = Shared.last

    def observe(self, messages):
        super().observe(messages)
        Shared.last = self.entries


class Rhythm(UserWords):
    """Counts for all instances."""

    done = count()
    tired = staticmethod(lambda times: times % 3 == 2)

    def _like(self, asked):
        found = super()._like(asked)
        return found[:1] if self.tired(next(self.done)) else found


class Tired(Rhythm):
    done = count()
    tired = staticmethod(lambda times: times >= 40)


class Hides(UserWords):
    def reply(self, message):
        try:
            return super().reply(message)
        except MnemotuneError:
            return "Hello."


BROKEN = {
    Notes: ("reply and prepare store nothing", "only observe may"),
    Caller: ("prepare makes no call", "calls the model"),
    OtherSeed: ("what is asked is what the query says", "has task 'answer' and seed 1, the"),
    OtherContext: ("what is shown is what the context says", "entry 999, which is not live"),
    OtherIds: ("entries come from what was observed", "must count from 0"),
    NoSources: ("entries come from what was observed", "are not ids of written messages"),
    NoTime: ("a write knows when it happened", "session 1, and says 0, 0"),
    Batches: ("it does not matter how messages are grouped", "how many messages observe"),
    Chance: ("the same life asks the same", "leave out time and chance"),
    Shared: ("instances share nothing, and each remembers", "remembers what another observed"),
    Rhythm: ("instances share nothing, and each remembers", "after another was at work"),
    Tired: ("instances share nothing, and each remembers", "after another was at work"),
    Hides: ("errors of the model pass through", "reply hides"),
}


def test_every_check_can_fail():
    assert {check for check, _ in BROKEN.values()} == set(CHECKS)


@pytest.mark.parametrize("agent", BROKEN, ids=lambda agent: agent.__name__)
def test_a_breach_is_named(agent, user):
    check, said = BROKEN[agent]
    trial = trial_of(seed_policy(declare_class(agent)), user, OfflineLM())
    if agent is Shared:
        Shared.last = ()
        trial.lived()
    assert said in breaches(trial, (check,))[check]


class Deaf(UserWords):
    """Obeys neither its prompt nor its number."""

    def reply(self, message):
        return "Hello."

    def _like(self, asked):
        return self.entries[-3:]


def test_parts_that_change_nothing_are_named(user):
    lm = OfflineLM()
    assert idle_parts(seed_policy(declare_class(UserWords)), user, lm) == []
    deaf = idle_parts(seed_policy(declare_class(Deaf)), user, lm)
    assert deaf == ["the text reply_prompt", "the setting top_k"]


def test_the_smallest_agent_shows_what_is_like_the_query(user):
    class Silent:
        name = "silent"

        def complete(self, request):
            return Completion("", 0, 0)

    policy = seed_policy(declare_class(UserWords)).derive(settings={"top_k": 1})
    trial = trial_of(policy, user, OfflineLM())
    agent = UserWords(Speaker(policy, Silent(), 1))
    agent.observe(trial.messages)
    said = trial.messages[4]
    shown = agent.prepare(replace(trial.queries[0], search=said.content)).context.entries
    assert [agent.entries[one].text for one in shown] == [f"user: {said.content}"]
