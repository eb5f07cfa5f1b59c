"""How much of an environment the offline model knows."""

from evolve.gym.sample import make_users
from evolve.gym.users import load_users, users_of
from evolve.lm.coverage import lexicon_share


def test_the_sample_is_known_and_invented_words_are_not(people):
    for variant in ("a", "b"):
        assert lexicon_share(users_of(make_users(2, 8, variant), "test")) > 0.9
    assert lexicon_share(people(1)) == 0.0


def test_the_published_users_lie_mostly_outside(shared_data):
    assert lexicon_share(load_users(shared_data / "amemgym-v1" / "data.json")) < 0.5
