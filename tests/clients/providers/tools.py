"""What all conversations are about."""

from typing import Any

SHORT = "Good morning!"
CALL = "Please use the get_forecast tool with city='Lisbon' and tell me what to wear."
CALL_TWICE = "What is it like on both days? [[stub:script [[{0}, {1}], [{2}]]]]".format(
    '{"tool": "get_forecast", "args": {"city": "Oslo", "days": 1}}',
    '{"tool": "get_forecast", "args": {"city": "Oslo", "days": 2}}',
    '{"text": "Snow on both days."}',
)
# What stands in double brackets tells the provider's stand-in what to do.
FAILS_MIDWAY = "[[stub:midstream_error]]"
THANKS = "Thank you, that is all for today."

FORECAST: dict[str, Any] = {
    "name": "get_forecast",
    "description": "Gives the weather of a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    },
}


def weather(city: str, days: int = 1) -> str:
    return f"{city}: {'snow' if city == 'Oslo' else 'sun'} for {days} day(s)"
