"""Probes are read from YAML and JSON; what breaks a rule is said in a sentence."""

import json
from datetime import date

import pytest

from evolve.chats.probing import probes_of
from policies.errors import EnvironmentFileError

PROBE = {
    **{"user": "ann", "state": "diet", "question": "What to eat?"},
    **{"expected": "vegan", "date": "2024-03-01"},
}
WRITTEN = """
- user: ann
  state: age
  question: How old am I?
  expected: 41
  date: 2024-03-01
  accept: [forty-one]
- user: ann
  state: diet
  question: "What to eat?"
  expected: vegan
  date: 2024-03-01 10:00:00
  choices: [vegan, meat]
"""


def read(probe):
    return probes_of(json.dumps([probe]).encode(), "probes.json")[0]


def test_yaml():
    age, diet = probes_of(WRITTEN.encode(), "probes.yaml")
    assert (age.expected, age.since, age.accept) == ("41", date(2024, 3, 1), ("forty-one",))
    assert age.choices is None
    assert diet.choices == {"vegan": "vegan", "meat": "meat"}
    assert diet.since == age.since


def test_json(probes):
    assert [probe.user for probe in probes] == ["ann", "ann", "ann", "7"]
    assert probes[2].choices == {"vegan": "A stew.", "meat": "A steak."}
    assert probes[3].accept == ("no nuts",)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"expcted": "x"}, 'found "expcted"'),
        ({"user": None}, "`user` must be given"),
        ({"state": "a: b"}, "without a colon or a bar"),
        ({"question": ""}, "`question` must be text"),
        ({"expected": True}, "put it in quotes"),
        ({"expected": "?!"}, "has none"),
        ({"expected": "กรุงเทพ"}, "not told apart by spaces; give `choices`"),
        ({"accept": ["กรุงเทพ"]}, "not told apart by spaces"),
        ({"date": "March"}, '`date` must be a day, found "March"; write it like 2024-04-10'),
        ({"date": None}, "`date` must be given"),
        ({"choices": ["meat", "fish"]}, "which is none of the `choices`"),
        ({"choices": ["vegan"]}, "at least two"),
        ({"choices": ["vegan", "vegan"]}, "at least two, no two the same"),
        ({"choices": {"vegan": "x", "meat": "x"}}, "no two the same"),
        ({"choices": "vegan"}, "`choices` must be an object"),
        ({"choices": ["vegan", "meat"], "accept": ["plants"]}, "remove one of them"),
        ({"accept": []}, "at least one text"),
    ],
)
def test_mistakes(change, told):
    with pytest.raises(EnvironmentFileError) as raised:
        read(PROBE | change)
    assert told in str(raised.value)
    assert str(raised.value).startswith("probes.json, object 0")


@pytest.mark.parametrize(
    "odd", ["!!binary aGk=", "!!set {a}", "0x" + "f" * 6000, "2024-03-01", "[2024-03-01]"]
)
@pytest.mark.parametrize("key", [*PROBE, "choices", "accept"])
def test_odd_values_of_yaml(key, odd):
    lines = [f"{name}: {odd if name == key else value}" for name, value in PROBE.items()]
    lines += [f"{key}: {odd}"] if key not in PROBE else []
    for text in ("- " + "\n  ".join(lines), "- " + "\n  ".join([*lines[:5], f"? {odd}\n  : 1"])):
        try:
            probes_of(text.encode(), "probes.yaml")
        except EnvironmentFileError as error:
            assert str(error).startswith("probes.yaml")  # noqa: PT017  # some are values
            assert "``" not in str(error)  # noqa: PT017


def test_a_key_that_stands_twice():
    text = WRITTEN.replace("  state: age", "  user: bob\n  state: age")
    with pytest.raises(EnvironmentFileError, match=r'line 2: .*"user" stands twice'):
        probes_of(text.encode(), "probes.yaml")


@pytest.mark.parametrize(
    "text", ["", "a: b", "- [", "- 3", "- {user: 2024-99-99}", "- !!python/object:os.x {}"]
)
def test_broken_yaml(text):
    with pytest.raises(EnvironmentFileError, match=r"^probes\.yml"):
        probes_of(text.encode(), "probes.yml")


def test_a_mistake_is_told_with_its_line():
    yaml = WRITTEN.replace("state: diet", "stat: diet")
    with pytest.raises(EnvironmentFileError, match=r"^probes\.yaml, line 8: "):
        probes_of(yaml.encode(), "probes.yaml")
    with pytest.raises(EnvironmentFileError, match=r"^probes\.yaml, line 8: a value cannot"):
        probes_of(WRITTEN.replace("03-01 10", "13-45 10").encode(), "probes.yaml")
    wrong = PROBE | {"date": "?"}
    for text, where in [
        (json.dumps([PROBE, wrong], indent=1), "object 1 "),
        (json.dumps([PROBE, wrong]), "object 1 "),
        (f"{json.dumps(PROBE)}\n\n{json.dumps(wrong)}", "line 3:"),
    ]:
        with pytest.raises(EnvironmentFileError, match=f"^probes, {where}"):
            probes_of(text.encode(), "probes")


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("user,state,question,expected,date\nann,diet,Eat?,vegan,2024-03-01", "probes.txt"),
        ('"user";"state";"question"\r\n', "probes.jsonl"),
        ("ann,diet", "probes.CSV"),
    ],
)
def test_a_table_is_told_what_probes_are(text, source):
    with pytest.raises(EnvironmentFileError, match=r"probes are a list in YAML .*\(CSV\); make"):
        probes_of(text.encode(), source)
