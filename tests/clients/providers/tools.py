"""What all conversations are about, and what the provider's stand-in is told to answer.

What stands in double brackets is for the stand-in: the answers to a message, one list of blocks for each
request that the message leads to. All that an API can answer comes early and late in a conversation, so
that no order hangs on what was said before.
"""

import json
from typing import Any

FORECAST: dict[str, Any] = {
    "name": "get_forecast",
    "description": "Gives the weather of a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    },
}

Block = dict[str, Any]


def weather(city: str, days: int = 1) -> str:
    return f"{city}: {'rain' if days > 1 else 'sun'} for {days} day(s)"


def think(text: str) -> Block:
    return {"reasoning": text}


def say(text: str) -> Block:
    return {"text": text}


def look(city: str, days: int = 1) -> Block:
    return {"tool": FORECAST["name"], "args": {"city": city, "days": days}}


def asked(text: str, *answers: list[Block]) -> str:
    return f"{text} [[stub:script {json.dumps(answers)}]]"


GREETING = asked("Good morning!", [say("Good morning to you.")])
THANKS = asked("Thank you, that is all.", [think("They are done."), say("You are welcome.")])
ONE_BY_ONE = asked(
    "What is it like at the coast, and in town?",
    [think("Both, then."), say("First the coast."), look("Porto Santo")],
    [say("Now the town."), look("Rio de Janeiro", 2)],
    [think("I know both."), say("Sun at the coast, rain in town.")],
)
TWO_AT_ONCE = asked(
    "What is it like there on both days?",
    [say("I will look."), look("Porto Santo"), look("Porto Santo", 2)],
    [say("Rain on the second day.")],
)
AGAIN = asked(
    "And in the mountains?",
    [say("One moment."), look("Serra da Estrela")],
    [think("That was one day."), look("Serra da Estrela", 3)],
    [say("Rain all the time.")],
)

# Each begins in another way, and goes on in another way.
CONVERSATIONS = (
    (GREETING, ONE_BY_ONE),
    (THANKS, AGAIN),
    (TWO_AT_ONCE, GREETING),
    (AGAIN, THANKS),
    (GREETING, TWO_AT_ONCE),
    (ONE_BY_ONE, AGAIN),
)

# Answers that break off early and late, in each kind of block.
LONG = say("This answer is long enough to break in the middle of it.")
BREAKS = tuple(
    asked("Why is that? [[stub:midstream_error]]", answer)
    for answer in (
        [LONG],
        [think("I should think about that for a while."), say("Well.")],
        [think("Well."), LONG],
        [think("In town."), look("Rio de Janeiro", 4)],
        [look("Porto Santo", 5), look("Porto Santo", 6)],
    )
)
# What is said before: nothing, text, tools, thoughts.
BEFORE_BREAKS = (GREETING, TWO_AT_ONCE, ONE_BY_ONE)


def refused(status: int) -> str:
    return f"Good morning! [[stub:error={status}]]"
