"""What entries are about and which value they say."""

import pytest

from feedback.reading import Says, reader_of

HOBBIES = {
    "diet_style": ("vegetarian", "vegan", "pescatarian"),
    "knitting_experience_level": ("beginner", "intermediate", "advanced"),
    "pickleball_skill_level": ("beginner", "intermediate", "advanced"),
    "kitchen_size": ("tiny_kitchen", "average_kitchen", "large_kitchen"),
    "food_allergy": ("nut_allergy", "dairy_intolerance", "gluten_intolerance", "no_allergy"),
    "community_engagement_interest": ("low_interest", "moderate_interest", "high_interest"),
}
CHINESE = {
    "饮食习惯": ("素食", "纯素", "鱼素", "什么都吃"),
    "厨房大小": ("小厨房", "中等厨房", "大厨房"),
    "通勤方式": ("骑自行车", "开车", "坐火车"),
}


@pytest.mark.parametrize(
    ("item", "state", "value", "says"),
    [
        (("food", "is vegan and eats no animal products"), "diet_style", "vegan", Says.TRUE),
        (("food", "is a vegetarian"), "diet_style", "vegan", Says.ANOTHER),
        (("food", "likes jazz"), "diet_style", "vegan", Says.NOTHING),
        (("diet style", "no animal products at all"), "diet_style", "vegan", Says.UNCLEAR),
        (("diet style and kitchen size", "likes jazz"), "diet_style", "vegan", Says.NOTHING),
        (("", "no allergy and no food intolerance"), "food_allergy", "no_allergy", Says.TRUE),
        (("", "advanced knitter"), "pickleball_skill_level", "advanced", Says.NOTHING),
        (("", "advanced knitter"), "knitting_experience_level", "advanced", Says.TRUE),
        (("", "advanced"), "pickleball_skill_level", "advanced", Says.TRUE),
        (("food", "vegan; cooks in a tiny kitchen"), "diet_style", "vegan", Says.TRUE),
        (("food", "vegan; cooks in a tiny kitchen"), "kitchen_size", "tiny_kitchen", Says.TRUE),
        (("", "has a large garden"), "kitchen_size", "large_kitchen", Says.NOTHING),
        (
            ("", "a strong interest in community engagement"),
            "community_engagement_interest",
            "high_interest",
            Says.UNCLEAR,
        ),
    ],
)
def test_what_an_entry_says(item, state, value, says):
    assert reader_of(HOBBIES).says(item, state, value, list(HOBBIES)) is says


@pytest.mark.parametrize(
    ("item", "state", "value", "says"),
    [
        (("饮食", "用户是纯素者"), "饮食习惯", "纯素", Says.TRUE),
        (("饮食", "用户是纯素者"), "饮食习惯", "素食", Says.ANOTHER),
        (("饮食习惯", "不确定"), "饮食习惯", "素食", Says.UNCLEAR),
        (("", "厨房很大"), "厨房大小", "大厨房", Says.TRUE),
        (("", "每天骑自行车上班"), "通勤方式", "开车", Says.ANOTHER),
        (("", "喜欢听爵士乐"), "通勤方式", "开车", Says.NOTHING),
    ],
)
def test_what_a_chinese_entry_says(item, state, value, says):
    assert reader_of(CHINESE).says(item, state, value, list(CHINESE)) is says


def test_a_state_that_no_turn_told_explains_an_entry_only_by_a_margin():
    reader = reader_of(HOBBIES)
    item = ("", "advanced, in the knitting of others")
    told = reader.says(item, "pickleball_skill_level", "advanced", ["pickleball_skill_level"])
    assert told is Says.NOTHING
    equal = reader.says(("", "advanced"), "pickleball_skill_level", "advanced", [])
    assert equal is Says.TRUE


def test_reading_does_not_depend_on_what_was_read_with_it_or_on_the_schemas_order():
    items = [("food", "is vegan"), ("home", "a tiny kitchen"), ("", "likes jazz")]
    together = reader_of(HOBBIES).read(items)
    schema = dict(reversed(HOBBIES.items())) | {"pet": ("has_dog", "no_pet")}
    alone = [reader_of(schema).read([item])[0] for item in items]
    assert all(
        a.near[state] == b.near[state]
        for a, b in zip(together, alone, strict=True)
        for state in HOBBIES
    )
    assert reader_of(schema) is reader_of(dict(sorted(schema.items())))
