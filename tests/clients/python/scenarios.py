"""Conversations with a Letta server in which a person approves, denies or answers a tool call."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import uuid4

from letta_client import Letta

from transcript import Transcript

MODEL = "anthropic/claude-sonnet-4-5-20250929"
EMBEDDING = "openai/text-embedding-3-small"
ASK = "Call the get_secret_code_tool to get the code for text 'hello world'."
SECRET_CODE = "740845635798344975"


def get_secret_code_tool(input_text: str) -> str:
    """
    A tool that returns the secret code based on the input. This tool requires approval before execution.
    Args:
        input_text (str): The input text to process.
    Returns:
        str: The secret code based on the input text.
    """
    return str(sum(map(ord, input_text)))


@dataclass
class Conversation:
    transcript: Transcript
    agent_id: str
    settle: float

    @classmethod
    def begin(cls, transcript: Transcript, settle: float) -> "Conversation":
        tool = transcript.call(
            "tools.upsert_from_function", func=get_secret_code_tool, default_requires_approval=True
        )
        agent = transcript.call(
            "agents.create",
            name=transcript.mint("agent_name", f"approval-{uuid4()}"),
            agent_type="letta_v1_agent",
            include_base_tools=False,
            include_base_tool_rules=False,
            tool_ids=[tool.id],
            tool_rules=[],
            model=MODEL,
            embedding=EMBEDDING,
            tags=["approval"],
        )
        return cls(transcript, agent.id, settle)

    def end(self) -> None:
        self.transcript.call("agents.delete", agent_id=self.agent_id)

    def user(self, text: str) -> dict[str, Any]:
        return {"role": "user", "content": text, "otid": self.transcript.mint("otid", str(uuid4()))}

    def plain(self, message: dict[str, Any]) -> list[Any]:
        answer = self.transcript.call(
            "agents.messages.create", agent_id=self.agent_id, messages=[message]
        )
        return answer.messages

    def steps(self, message: dict[str, Any]) -> list[Any]:
        return self._stream(message, stream_tokens=False)

    def tokens(self, message: dict[str, Any]) -> list[Any]:
        return self._stream(message, stream_tokens=True)

    def state(self) -> Any:
        return self.transcript.call(
            "agents.retrieve", agent_id=self.agent_id, include=["agent.pending_approval"]
        )

    def context(self) -> None:
        self.transcript.call(
            "get", f"/v1/agents/{self.agent_id}/context", cast_to=dict[str, object]
        )

    def history(self, **cursor: Any) -> list[Any]:
        page = self.transcript.call(
            "agents.messages.list", agent_id=self.agent_id, order="asc", **cursor
        )
        return page.items

    def whole_history(self) -> None:
        self.transcript.each("agents.messages.list", agent_id=self.agent_id, order="asc", limit=3)

    def _stream(self, message: dict[str, Any], stream_tokens: bool) -> list[Any]:
        try:
            return self.transcript.each(
                "agents.messages.stream",
                agent_id=self.agent_id,
                messages=[message],
                stream_tokens=stream_tokens,
            )
        finally:
            time.sleep(self.settle)


def approve(tool_call_id: str, **more: str) -> dict[str, Any]:
    return _answer({"type": "approval", "approve": True, "tool_call_id": tool_call_id, **more})


def deny(tool_call_id: str) -> dict[str, Any]:
    reason = f"You don't need to call the tool, the secret code is {SECRET_CODE}"
    return _answer(
        {"type": "approval", "approve": False, "tool_call_id": tool_call_id, "reason": reason}
    )


def tool_return(tool_call_id: str) -> dict[str, Any]:
    return _answer(
        {
            "type": "tool",
            "tool_call_id": tool_call_id,
            "tool_return": SECRET_CODE,
            "status": "success",
        }
    )


def _answer(answer: dict[str, Any]) -> dict[str, Any]:
    return {"type": "approval", "approvals": [answer]}


def _awaited_call(messages: list[Any]) -> str:
    requests = [item for item in messages if item.message_type == "approval_request_message"]
    return requests[0].tool_call.tool_call_id


def hitl(
    answer: Callable[[str], dict[str, Any]], mode: str, transcript: Transcript, settle: float
) -> None:
    conversation = Conversation.begin(transcript, settle)
    send = getattr(conversation, mode)
    conversation.state()
    asked = send(conversation.user(ASK))
    conversation.state()
    seen = conversation.history(limit=100)
    send(answer(_awaited_call(asked)))
    conversation.history(after=seen[-1].id)
    conversation.context()
    send(conversation.user("Thank you for the secret code."))
    conversation.whole_history()
    conversation.state()
    conversation.end()


def nothing_pending(transcript: Transcript, settle: float) -> None:
    conversation = Conversation.begin(transcript, settle)
    approval = approve(_random_call(transcript))
    transcript.refused(conversation.plain, approval)
    transcript.refused(conversation.tokens, approval)
    conversation.plain(conversation.user("Hello."))
    conversation.whole_history()
    conversation.end()


def user_message_while_pending(transcript: Transcript, settle: float) -> None:
    conversation = Conversation.begin(transcript, settle)
    asked = conversation.plain(conversation.user(ASK))
    transcript.refused(conversation.plain, conversation.user("Hello."))
    transcript.refused(conversation.tokens, conversation.user("Hello again."))
    conversation.state()
    conversation.plain(approve(_awaited_call(asked)))
    conversation.plain(conversation.user("Hello."))
    conversation.whole_history()
    conversation.end()


def wrong_tool_call_id(transcript: Transcript, settle: float) -> None:
    conversation = Conversation.begin(transcript, settle)
    asked = conversation.plain(conversation.user(ASK))
    wrong = approve(_random_call(transcript))
    transcript.refused(conversation.plain, wrong)
    transcript.refused(conversation.tokens, wrong)
    conversation.state()
    conversation.plain(approve(_awaited_call(asked)))
    conversation.whole_history()
    conversation.end()


def refusals(transcript: Transcript, settle: float) -> None:
    """All that the server refuses, in one conversation. The right approval may also come first.
    What comes too late says so, or it would be the same request as the wrong one."""
    conversation = Conversation.begin(transcript, settle)
    asked = conversation.plain(conversation.user(ASK))
    wrong = approve(_random_call(transcript))
    late = approve(_random_call(transcript), reason="Better late than never.")
    hasty = conversation.user("Hello.")

    def approve_wrongly() -> None:
        transcript.refused(conversation.plain, wrong)

    def approve_rightly() -> None:
        transcript.refused(conversation.plain, hasty)
        conversation.plain(approve(_awaited_call(asked)))

    transcript.either_way(approve_wrongly, approve_rightly)
    transcript.refused(conversation.plain, late)
    conversation.state()
    conversation.plain(conversation.user("Thank you for the secret code."))
    conversation.whole_history()
    conversation.end()


def _random_call(transcript: Transcript) -> str:
    return transcript.mint("tool_call_id", f"call_{uuid4()}")


ANSWERS = {"approve": approve, "deny": deny, "return": tool_return}
SCENARIOS: dict[str, Callable[[Transcript, float], None]] = {
    **{
        f"hitl/{name}_{mode}": partial(hitl, answer, mode)
        for name, answer in ANSWERS.items()
        for mode in ("plain", "steps", "tokens")
    },
    "errors/nothing_pending": nothing_pending,
    "errors/user_message_while_pending": user_message_while_pending,
    "errors/wrong_tool_call_id": wrong_tool_call_id,
    "errors/refusals": refusals,
}


def run(name: str, base_url: str, settle: float, swapped: bool) -> dict[str, Any]:
    """Runs one scenario against a server and gives back what the SDK said.

    The SDK retries 409 by itself, which would hide the refusals that are the point here.
    """
    client = Letta(base_url=base_url, api_key="not-needed", max_retries=0)
    transcript = Transcript(client, swapped)
    SCENARIOS[name](transcript, settle)
    return transcript.as_json()
