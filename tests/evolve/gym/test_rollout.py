"""Rollouts: what is lived, asked, booked and charged, on-policy."""

import json
import re
from dataclasses import replace
from fractions import Fraction

import pytest

from evolve.gym.people import Choice, Question
from evolve.gym.questions import choice_order
from evolve.gym.rollout import Span, World, live, planned_calls, share
from feedback.diagnosis import diagnose
from policies.errors import OutsideFailureError, PolicyFailureError
from policies.policy import BUILT_IN, seed_policy

SEED = 1
WRITERS = ("awe", "awi")


def polite(request):
    """Says something fitting in every role; chooses the first, knows nothing."""
    return {
        "reply": "I see.",
        "user": '{"message": "Right.", "told": {}}',
        "write": "{}",
        "answer": '{"answer": 1}',
        "probe": "{}",
    }[request.task]


class TestTranscript:
    def test_ids_roles_and_rounds(self, people, scripted):
        (user,) = people(1, periods=3, questions=1)
        lm = scripted(polite)
        rollout = live(seed_policy("none"), user, World(lm, lm, SEED, 1, 3))
        assert [message.id for message in rollout.messages] == [
            *("0.0.0.u", "0.0.0.a"),
            *(f"{p}.0.{r}.{who}" for p in (1, 2) for r in range(3) for who in "ua"),
        ]
        assert {m.role for m in rollout.messages if m.id.endswith("u")} == {"user"}
        assert {m.role for m in rollout.messages if m.id.endswith("a")} == {"assistant"}
        assert rollout.messages[0].content == "[Current Time: 2024-01-01 09:00:00]\nHello."
        assert [m.content for m in rollout.messages[-3:]] == ["I see.", "Right.", "I see."]

    def test_told_states_are_true_when_told(self, lived, sample_users):
        for rollouts in lived.values():
            for user, rollout in zip(sample_users, rollouts, strict=True):
                for message in rollout.messages:
                    period, session, number, who = message.id.split(".")
                    state = user.periods[int(period)].state
                    assert all(state[name] == value for name, value in message.told)
                    assert message.told == () or who == "u"
                    if number == "0" and who == "u":
                        opening = user.periods[int(period)].sessions[int(session)]
                        assert dict(message.told) == dict(opening.exposed or {})

    def test_the_user_sees_this_session_and_the_agents_own_replies(self, people, scripted):
        (user,) = people(1, periods=2, questions=1)
        lm = scripted(
            lambda r: f"reply {len(lm.asked('reply'))}" if r.task == "reply" else polite(r)
        )
        live(seed_policy("none"), user, World(lm, lm, SEED))
        (asked,) = lm.asked("user")
        assert "assistant: reply 2\n" in asked.messages[-1].content
        assert "reply 1" not in asked.messages[-1].content


class TestAnswers:
    def test_choices_are_booked_in_the_files_order(self, sample_users, scripted):
        """A model that knows which text is right is right everywhere, wherever it is shown."""
        for user in sample_users[:2]:
            wanted = []

            def knowing(request, user=user, wanted=wanted):
                if request.task != "answer":
                    return polite(request)
                shown = dict(re.findall(r"^(\d+)\. (.*)$", request.messages[-1].content, re.M))
                period, question = divmod(len(wanted), len(user.questions))
                asked = user.questions[question]
                right = asked.choices[asked.right_choice(user.periods[period].state)].answer
                wanted.append(next(n for n, text in shown.items() if text == right))
                return f'{{"answer": {wanted[-1]}}}'

            lm = scripted(knowing)
            rollout = live(seed_policy("none"), user, World(lm, lm, SEED))
            assert all(answer.right for answer in rollout.answers)
            assert len(set(wanted)) >= 4
            assert all(
                answer.choices == len(user.questions[answer.question].choices)
                for answer in rollout.answers
            )

    def test_every_question_in_every_period_with_its_own_order(self, people, scripted):
        (user,) = people(1, periods=5, questions=3)
        lm = scripted(polite)
        rollout = live(seed_policy("none"), user, World(lm, lm, SEED))
        places = [(answer.period, answer.question) for answer in rollout.answers]
        assert places == [(p, q) for p in range(5) for q in range(3)]
        for answer in rollout.answers:
            assert answer.chosen == choice_order(SEED, user, answer.question, answer.period)[0]
            assert answer.right_choice == min(answer.period, 1)

    @pytest.mark.parametrize("reply", ["", "I cannot say.", "3", '{"answer": null}', "[1]", "true"])
    def test_an_answer_that_names_no_choice_is_none(self, people, scripted, reply):
        (user,) = people(1, periods=1, questions=1)
        lm = scripted(lambda r: reply if r.task == "answer" else polite(r))
        (answer,) = live(seed_policy("none"), user, World(lm, lm, SEED)).answers
        assert (answer.chosen, answer.reply, answer.right) == (None, reply, False)

    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            ("a", ("a", False, False)),
            (" a ", ("a", False, False)),
            ("b", ("b", False, False)),
            ("unknown", (None, False, True)),
            ("Unknown", (None, False, True)),
            ("A", (None, True, False)),
            ("", (None, True, False)),
            (None, (None, True, False)),
            (["a"], (None, True, False)),
        ],
    )
    def test_probes(self, people, scripted, value, expected):
        (user,) = people(1, periods=1, questions=1)
        said = json.dumps({"drink": value})
        lm = scripted(lambda r: said if r.task == "probe" else polite(r))
        (answer,) = live(seed_policy("none"), user, World(lm, lm, SEED)).answers
        (probe,) = answer.probes
        assert (probe.state, probe.truth, answer.probe_reply) == ("drink", "a", said)
        assert (probe.reply, probe.format_error, probe.unknown) == expected

    def test_values_of_the_schema_come_before_unknown_and_odd_spaces_do_not_matter(
        self, people, scripted
    ):
        (user,) = people(1, periods=1, questions=1)
        for value in ("Unknown", " green\n tea"):
            period = replace(user.periods[0], state={"drink": value})
            question = Question("Which?", ("drink",), (Choice((value,), "x"), Choice(("m",), "y")))
            odd = replace(
                user, schema={"drink": (value, "m")}, periods=(period,), questions=(question,)
            )
            said = json.dumps({"drink": " ".join(value.split())})
            lm = scripted(lambda r, said=said: said if r.task == "probe" else polite(r))
            (answer,) = live(seed_policy("none"), odd, World(lm, lm, SEED)).answers
            assert answer.probes[0].right

    def test_a_broken_probe_is_a_format_error_of_each_state(self, sample_users, scripted):
        lm = scripted(lambda r: "No idea." if r.task == "probe" else polite(r))
        rollout = live(seed_policy("none"), sample_users[0], World(lm, lm, SEED))
        for answer in rollout.answers:
            required = sample_users[0].questions[answer.question].required
            assert tuple(probe.state for probe in answer.probes) == required
            assert all(probe.format_error for probe in answer.probes)


class TestSpan:
    @pytest.mark.parametrize("architecture", BUILT_IN)
    def test_a_part_is_the_beginning_of_the_whole(
        self, lived, sample_users, offline_world, architecture
    ):
        whole = lived[architecture][0]
        part = live(seed_policy(architecture), sample_users[0], offline_world(), Span(periods=3))
        assert part.answers == whole.answers[: len(part.answers)]
        assert part.messages == whole.messages[: len(part.messages)]
        assert part.writes == whole.writes[: len(part.writes)]
        assert {a.period for a in part.answers} == {0, 1, 2}
        assert max(int(m.id.split(".")[0]) for m in part.messages) == 2
        assert part.memory_tokens == whole.memory_tokens[:3]

    def test_more_periods_than_there_are_is_all_of_them(self, lived, sample_users, offline_world):
        rollout = live(seed_policy("awi"), sample_users[0], offline_world(), Span(periods=99))
        assert rollout == lived["awi"][0]

    def test_none_answers_alone_as_it_answers_in_a_whole_life(
        self, lived, sample_users, offline_world
    ):
        for user, whole in zip(sample_users, lived["none"], strict=True):
            part = live(seed_policy("none"), user, offline_world(), Span(answers_only=True))
            assert part.messages == ()
            assert [role for role, _ in part.usage] == ["answer"]
            assert [a.chosen for a in part.answers] == [a.chosen for a in whole.answers]
            assert all(a.probes == () and a.probe_reply == "" for a in part.answers)
            assert not any(d.probed for d in diagnose(part, user.truth()))

    @pytest.mark.parametrize("rounds", [(1, 1), (1, 2), (3, 2)])
    def test_planned_calls_are_the_calls_made(self, sample_users, scripted, rounds):
        modes = (Span(probes="joint"), Span(3, probes="both"), Span(2, True, "both"))
        for span in (Span(), Span(periods=3), Span(answers_only=True), *modes):
            lm = scripted(polite)
            world = World(lm, lm, SEED, *rounds)
            rollout = live(seed_policy("native"), sample_users[0], world, span)
            assert len(lm.requests) == planned_calls(sample_users[0], world, span)
            assert sum(usage.calls for _, usage in rollout.usage) == len(lm.requests)

    def test_shares_are_of_a_whole_rollout(self, sample_users, scripted):
        world = World(scripted(polite), scripted(polite), SEED)
        for user in sample_users:
            assert share(user, world, Span()) == 1
            steps = [share(user, world, Span(periods=n)) for n in range(len(user.periods) + 1)]
            assert steps[0] == 0
            assert steps[-1] == 1
            assert steps == sorted(set(steps))
            assert share(user, world, Span(periods=99)) == 1
            answers = Fraction(len(user.periods) * len(user.questions))
            alone = share(user, world, Span(answers_only=True))
            assert alone == answers / planned_calls(user, world)
            halves = [share(user, world, Span(n, answers_only=True)) for n in (4, 8)]
            assert 2 * halves[0] == halves[1] == alone


class TestFailure:
    @pytest.mark.parametrize(
        ("error", "kind"),
        [(PolicyFailureError("too long"), "policy"), (OutsideFailureError("cut off"), "outside")],
    )
    @pytest.mark.parametrize("task", ["reply", "write", "answer", "probe"])
    def test_a_failure_of_the_assistants_model_is_data(self, people, scripted, error, kind, task):
        (user,) = people(1, periods=4, questions=1)

        def failing(request):
            if request.task == task and len(lm.asked(task)) == 2:
                raise error
            return polite(request)

        lm = scripted(failing)
        policy = seed_policy("awe").derive(settings={"write_every": 2, "local_window": 0})
        rollout = live(policy, user, World(lm, lm, SEED))
        assert (rollout.failure, rollout.failure_kind) == (str(error), kind)
        talk = [request.task for request in lm.requests if request.task in {"reply", "write"}]
        assert task in {"answer", "probe"} or talk[-1] == task  # nothing more is said
        assert dict(rollout.usage)[task].calls == 1  # what failed is not counted as answered
        with pytest.raises(ValueError, match="failed rollout has no diagnosis"):
            diagnose(rollout, user.truth())

    @pytest.mark.parametrize("error", [PolicyFailureError("long"), OutsideFailureError("down")])
    def test_a_failure_of_the_user_is_from_outside(self, people, scripted, error):
        def failing(request):
            raise error

        (user,) = people(1)
        rollout = live(seed_policy("none"), user, World(scripted(polite), scripted(failing), SEED))
        assert rollout.failure_kind == "outside"
        assert str(error) in str(rollout.failure)
        assert {answer.period for answer in rollout.answers} == {0}

    def test_a_defect_is_no_failure(self, people, scripted):
        def broken(request):
            raise ZeroDivisionError

        (user,) = people(1)
        with pytest.raises(ZeroDivisionError):
            live(seed_policy("none"), user, World(scripted(broken), scripted(broken), SEED))
