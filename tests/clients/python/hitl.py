"""Conversations in which a person approves, denies or answers a tool call."""

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import uuid4

from conversation import (
    ANSWERS,
    ASK,
    THANKS,
    Conversation,
    answer,
    approval,
    approve,
    awaited_call,
    of_type,
    returned,
    roll_dice_tool,
)
from provider import Provider
from transcript import Transcript

PARALLEL = (
    "Call the get_secret_code_tool 3 times in parallel for the following inputs: 'hello world', "
    "'hello letta', 'hello test', and also call the roll_dice_tool once with a 16-sided dice."
)
Answer = Callable[[str], dict[str, Any]]


def hitl(
    reply: Answer, mode: str, transcript: Transcript, provider: Provider, settle: float
) -> None:
    with Conversation.begin(transcript, provider, settle) as conversation:
        send = getattr(conversation, mode)
        conversation.state()
        asked = send(conversation.user(ASK))
        conversation.state()
        seen = conversation.history(limit=100)
        send(reply(awaited_call(asked)))
        conversation.history(after=seen[-1].id)
        conversation.context()
        send(conversation.user(THANKS))
        conversation.whole_history()
        conversation.state()


def with_user_message(
    reply: Answer, mode: str, transcript: Transcript, provider: Provider, settle: float
) -> None:
    """The answer comes together with what the user says next."""
    with Conversation.begin(transcript, provider, settle) as conversation:
        send = getattr(conversation, mode)
        asked = conversation.plain(conversation.user(ASK))
        said = conversation.user("The secret code should not contain any special characters.")
        send(reply(awaited_call(asked)), {"type": "message", **said})
        conversation.context()
        conversation.tokens(conversation.user(THANKS))
        conversation.whole_history()


def model_fails(
    reply: Answer, mode: str, transcript: Transcript, provider: Provider, settle: float
) -> None:
    """The model fails behind the answer; the agent goes on working."""
    with Conversation.begin(transcript, provider, settle) as conversation:
        asked = conversation.plain(conversation.user(ASK))
        provider.fails_next()
        transcript.refused(getattr(conversation, mode), reply(awaited_call(asked)))
        conversation.settle()
        conversation.state()
        conversation.steps(conversation.user(THANKS))
        conversation.whole_history()


def approval_off(transcript: Transcript, provider: Provider, settle: float) -> None:
    """The tool needs no approval any more, and is called without."""
    with Conversation.begin(transcript, provider, settle) as conversation:
        asked = conversation.plain(conversation.user(ASK))
        conversation.tokens(approve(awaited_call(asked)))
        transcript.call(
            "agents.tools.update_approval",
            agent_id=conversation.agent_id,
            tool_name="get_secret_code_tool",
            body_requires_approval=False,
        )
        conversation.tokens(conversation.user(ASK))
        conversation.state()


def parallel(mode: str, transcript: Transcript, provider: Provider, settle: float) -> None:
    """Four calls at once: one needs no approval, one is approved, one denied, one answered."""
    tools = (roll_dice_tool,)
    with Conversation.begin(transcript, provider, settle, tools) as conversation:
        transcript.call("agents.update", agent_id=conversation.agent_id, parallel_tool_calls=True)
        send = getattr(conversation, mode)
        before = transcript.call("agents.messages.list", agent_id=conversation.agent_id, limit=1)
        asked = send(conversation.user(PARALLEL))
        conversation.context()
        first, second, third = _awaited_calls(asked)
        send(answer(approval(first, True), approval(second, False), returned(third)))
        conversation.context()
        conversation.history(after=before.items[0].id)
        conversation.tokens(conversation.user(THANKS))


def _awaited_calls(messages: list[Any]) -> list[str]:
    """The calls of a request, whole or in pieces."""
    calls: list[str] = []
    for request in of_type(messages, "approval_request_message"):
        parts = request.tool_calls if isinstance(request.tool_calls, list) else [request.tool_call]
        calls += [part.tool_call_id for part in parts if part.tool_call_id]
    return list(dict.fromkeys(calls))


def nothing_pending(transcript: Transcript, provider: Provider, settle: float) -> None:
    with Conversation.begin(transcript, provider, settle) as conversation:
        wrong = approve(_random_call(transcript))
        transcript.refused(conversation.plain, wrong)
        transcript.refused(conversation.tokens, wrong)
        conversation.plain(conversation.user("Hello."))
        conversation.whole_history()


def user_message_while_pending(transcript: Transcript, provider: Provider, settle: float) -> None:
    with Conversation.begin(transcript, provider, settle) as conversation:
        asked = conversation.plain(conversation.user(ASK))
        transcript.refused(conversation.plain, conversation.user("Hello."))
        transcript.refused(conversation.tokens, conversation.user("Hello again."))
        conversation.state()
        conversation.plain(approve(awaited_call(asked)))
        conversation.plain(conversation.user("Hello."))
        conversation.whole_history()


def wrong_tool_call_id(transcript: Transcript, provider: Provider, settle: float) -> None:
    with Conversation.begin(transcript, provider, settle) as conversation:
        asked = conversation.plain(conversation.user(ASK))
        wrong = approve(_random_call(transcript))
        transcript.refused(conversation.plain, wrong)
        transcript.refused(conversation.tokens, wrong)
        conversation.state()
        conversation.plain(approve(awaited_call(asked)))
        conversation.whole_history()


def refusals(transcript: Transcript, provider: Provider, settle: float) -> None:
    """All that the server refuses, in one conversation. The right approval may also come first.
    What comes too late says so, or it would be the same request as the wrong one."""
    with Conversation.begin(transcript, provider, settle) as conversation:
        asked = conversation.plain(conversation.user(ASK))
        wrong = approve(_random_call(transcript))
        late = approve(_random_call(transcript), reason="Better late than never.")
        hasty = conversation.user("Hello.")

        def approve_wrongly() -> None:
            transcript.refused(conversation.plain, wrong)

        def approve_rightly() -> None:
            transcript.refused(conversation.plain, hasty)
            conversation.plain(approve(awaited_call(asked)))

        transcript.either_way(approve_wrongly, approve_rightly)
        transcript.refused(conversation.plain, late)
        conversation.state()
        conversation.plain(conversation.user(THANKS))
        conversation.whole_history()


def _random_call(transcript: Transcript) -> str:
    return transcript.mint("tool_call_id", f"call_{uuid4()}")


SCENARIOS = {
    **{
        f"hitl/{name}_{mode}": partial(hitl, reply, mode)
        for name, reply in ANSWERS.items()
        for mode in ("plain", "steps", "tokens")
    },
    **{
        f"hitl/{name}_with_user_message_{mode}": partial(with_user_message, reply, mode)
        for name, reply in ANSWERS.items()
        for mode in ("plain", "tokens")
    },
    **{
        f"hitl/{name}_model_fails_{mode}": partial(model_fails, reply, mode)
        for name, reply in ANSWERS.items()
        for mode in ("plain", "tokens")
    },
    "hitl/approval_off": approval_off,
    "hitl/parallel_plain": partial(parallel, "plain"),
    "hitl/parallel_tokens": partial(parallel, "tokens"),
    "errors/nothing_pending": nothing_pending,
    "errors/user_message_while_pending": user_message_while_pending,
    "errors/wrong_tool_call_id": wrong_tool_call_id,
    "errors/refusals": refusals,
}
