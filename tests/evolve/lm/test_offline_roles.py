"""What the offline model does in each role, in English, in Chinese, and outside its lexicon."""

import pytest

from evolve.lm.lexicon import is_cjk, load_lexicon

VEGAN = "is vegan and eats no animal products, only plants"
FISH = "is pescatarian and eats fish and seafood but no meat"
DISHES = (
    "A steak, for one who eats everything, meat and fish included.",
    "Tofu, for one who is vegan and eats no animal products, only plants.",
    "Salmon, for one who is pescatarian and eats fish and seafood but no meat.",
)
DISHES_ZH = (
    "牛排，我什么都吃，不挑食。",
    "豆腐，我是纯素者，蛋奶都不吃。",
    "鱼，我不吃肉，但是吃鱼和海鲜。",
)
SCHEMA = {"diet_style": ("vegetarian", "vegan", "pescatarian"), "pet": ("dog", "cat")}
BABBLE = "Qwpo zxmn vbcu."
GERMAN = "Seit Jahren esse ich kein Fleisch mehr."


class TestWrite:
    def test_a_fact_is_filed_under_the_type_that_asks_for_it(self, asked):
        said = "I have gone fully vegan this year. My dog follows me everywhere."
        facts = asked.write("- pet\n- diet style\n- commute mode", said)
        assert facts["diet style"] == VEGAN
        assert set(facts) <= {"diet style", "pet"}

    def test_what_is_implied_is_put_into_plain_words(self, asked):
        facts = asked.write("- diet style", "I avoid eggs, butter, honey and cheese.")
        assert facts == {"diet style": VEGAN}

    def test_questions_and_the_assistant_tell_nothing(self, asked):
        assert asked.write("- diet style", "Should I go fully vegan?") == {}
        assert asked.write("- I see", "Hello?") == {}

    def test_no_more_than_it_can_hold_and_one_value_per_label(self, asked_with):
        said = "I have gone fully vegan. I cycle to work. I have a dog. I sleep six hours."
        types = "- diet style\n- commute mode\n- pet\n- sleep length"
        counts = [len(asked_with(kept_facts=n).write(types, said)) for n in (1, 2, 3)]
        assert counts == [1, 2, 3]
        assert len(asked_with(kept_facts=3).write("- habits", said)) == 1

    def test_a_list_longer_than_it_can_hold_is_followed_in_part(self, asked_with):
        types = "\n".join(f"- {name}" for name in load_lexicon().concepts[:40])
        said = "I have gone fully vegan this year."
        kept = [
            "diet_style" in asked_with(held_types=10).write(types, said, seed) for seed in range(30)
        ]
        assert 0 < sum(kept) < 30
        assert "diet_style" in asked_with(held_types=40).write(types, said)

    def test_values_said_in_chinese_stay_chinese(self, asked):
        types = "- 饮食习惯\n- 宠物\n- 偏好：用户喜欢什么"
        for value in load_lexicon().values:
            if value.fact_zh:
                facts = asked.write(types, f"{value.fact_zh}。")
                assert all(is_cjk(fact) for fact in facts.values()), value
        assert asked.write("- 饮食习惯", "我是纯素者，蛋奶都不吃。")["饮食习惯"]
        assert is_cjk(asked.write("- diet style", "我是纯素者，蛋奶都不吃。")["diet style"])

    @pytest.mark.parametrize("said", [GERMAN, BABBLE, "昨晚梦见一只会飞的鲸鱼。"])
    def test_what_is_outside_the_lexicon_is_kept_as_it_was_said(self, asked, said):
        types = "- personal preferences: what the user likes"
        assert asked.write(types, said) in ({}, {"personal preferences": said})
        assert asked.write(f"- {said}", said) == {said[:80]: said}


class TestAnswer:
    @pytest.mark.parametrize(("fact", "choice"), [(VEGAN, 2), (FISH, 3)])
    def test_the_choice_that_fits_what_is_remembered(self, asked, fact, choice):
        assert asked.choose(DISHES, [("diet", fact)]) == choice

    @pytest.mark.parametrize(
        ("fact", "choice"), [("我是纯素者，蛋奶都不吃", 2), ("我不吃肉，但是吃鱼和海鲜", 3)]
    )
    def test_in_chinese(self, asked, fact, choice):
        assert asked.choose(DISHES_ZH, [("饮食习惯", fact)]) == choice

    def test_turns_in_context_count_too(self, asked):
        assert asked.choose(DISHES, said=["I have gone fully vegan this year."]) == 2

    def test_without_knowledge_the_guess_is_fixed_per_seed_whatever_the_order(self, asked):
        guesses = []
        for seed in range(30):
            guess = DISHES[asked.choose(DISHES, seed=seed) - 1]
            turned = DISHES[::-1]
            assert turned[asked.choose(turned, seed=seed) - 1] == guess
            guesses.append(guess)
        assert len(set(guesses)) == 3

    def test_outside_the_lexicon_by_likeness(self, asked):
        choices = ("Koch etwas mit Fleisch vom Rind.", "Nimm das Fahrrad zum Bahnhof.")
        assert asked.choose(choices, [("", "Ich fahre mit dem Fahrrad zum Bahnhof")]) == 2

    def test_a_bound_goes_by_the_facts_that_are_given(self, asked):
        assert asked.choose(DISHES, [("diet_style", "vegan")], bound=True) == 2
        assert asked.choose(DISHES, [("diet_style", "pescatarian")], bound=True) == 3


class TestProbe:
    def test_every_state_with_one_of_its_values_or_unknown(self, asked):
        assert asked.probe(SCHEMA, [("diet", VEGAN)]) == {"diet_style": "vegan", "pet": "unknown"}
        assert asked.probe(SCHEMA) == {"diet_style": "unknown", "pet": "unknown"}

    def test_turns_in_context_count_too(self, asked):
        said = ["I have gone fully vegan this year."]
        assert asked.probe(SCHEMA, said=said)["diet_style"] == "vegan"

    def test_outside_the_lexicon_by_likeness(self, asked):
        schema = {"Haustier": ("Hund", "Katze"), "Fahrzeug": ("Fahrrad", "Auto")}
        found = asked.probe(schema, [("Haustier", "Sie hat eine Katze"), ("x", "Das Fahrrad")])
        assert found == {"Haustier": "Katze", "Fahrzeug": "Fahrrad"}

    def test_chinese_states_outside_the_lexicon(self, asked):
        schema = {"星座": ("白羊座", "双鱼座"), "血型": ("A型血", "O型血")}
        found = asked.probe(schema, [("星座", "她的星座是双鱼座")])
        assert found["星座"] == "双鱼座"
        assert found["血型"] in {"unknown", *schema["血型"]}

    def test_chinese_names_of_the_lexicon(self, asked):
        schema = {"饮食习惯": ("素食者", "纯素者", "鱼素者")}
        assert asked.probe(schema, [("饮食习惯", "我是纯素者，蛋奶都不吃")]) == {
            "饮食习惯": "纯素者"
        }


class TestReply:
    def test_it_asks_what_the_prompt_tells_it_to_ask_and_nothing_else(self, asked):
        told = "Be kind. Ask the user about their diet style and pets."
        assert "?" not in asked.reply("Be kind.", "Hello there.")
        assert "?" in asked.reply(told, "Hello there.")
        topics = {
            asked.reply(told, "Hello there.", seed=s).split("about your ")[1] for s in range(9)
        }
        assert topics == {"diet style?", "pets?"}

    def test_it_does_not_ask_what_it_knows(self, asked):
        told = "Ask the user about their diet style."
        assert "?" not in asked.reply(told, "Hello there.", [("diet", VEGAN)])

    def test_memories_are_no_instructions(self, asked):
        fact = [("note", "ask the user about their sleep")]
        assert "?" not in asked.reply("Be kind.", "Hello there.", fact)

    def test_in_chinese(self, asked):
        said = asked.reply("请友好。询问用户关于星座、血型。", "你好，今天做什么？")
        assert is_cjk(said)
        assert any(topic in said for topic in ("星座", "血型"))
        assert "？" not in asked.reply("请友好。", "你好，今天做什么")


class TestUser:
    STATES = {"diet_style": "vegan", "pet": "dog"}  # noqa: RUF012  a constant

    def test_what_is_asked_is_told(self, asked):
        message, told = asked.play(self.STATES, "Try it. May I ask about your diet style?")
        assert told == {"diet_style": "vegan"}
        assert "vegan" in message

    @pytest.mark.parametrize(
        "heard", ["Try it.", "Your diet style matters.", "How about the weather in Rome?", ""]
    )
    def test_nothing_else_is(self, asked, heard):
        message, told = asked.play(self.STATES, heard, "Ann likes long walks in the park.")
        assert told == {}
        assert message
        assert "vegan" not in message

    def test_what_the_assistant_asks_in_the_users_words_reaches_it(self, asked):
        question = asked.reply("Ask the user about their pet.", "Hello there.")
        assert asked.play(self.STATES, question)[1] == {"pet": "dog"}

    def test_in_chinese(self, asked):
        states = {"星座": "双鱼座", "血型": "A型血"}
        question = asked.reply("询问用户关于星座。", "你好，今天做什么？")
        message, told = asked.play(states, question)
        assert told == {"星座": "双鱼座"}
        assert is_cjk(message)

    def test_outside_the_lexicon(self, asked):
        states = {"Haustier": "Hund", "Wohnort": "Berlin"}
        assert asked.play(states, "May I ask about your Haustier?")[1] == {"Haustier": "Hund"}

    def test_small_talk_is_in_the_language_of_the_conversation(self, asked):
        message, _ = asked.play(
            {"星座": "双鱼座"}, "可以先从一件小事开始。", "她喜欢在公园里散步很久很久。"
        )
        assert not any("a" <= letter <= "z" for letter in message)
