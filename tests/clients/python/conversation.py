"""What the conversations with a Letta server have in common."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from provider import Provider
from transcript import Transcript

MODEL = "anthropic/claude-sonnet-4-5-20250929"
EMBEDDING = "openai/text-embedding-3-small"
ASK = "Call the get_secret_code_tool to get the code for text 'hello world'."
THANKS = "Thank you for the secret code."
SECRET_CODE = "740845635798344975"
ENDED = ("completed", "failed", "cancelled")


def get_secret_code_tool(input_text: str) -> str:
    """
    A tool that returns the secret code based on the input. This tool requires approval before execution.
    Args:
        input_text (str): The input text to process.
    Returns:
        str: The secret code based on the input text.
    """
    return str(sum(map(ord, input_text)))


def roll_dice_tool(num_sides: int) -> str:
    """
    A tool that returns a number between 1 and num_sides.
    Args:
        num_sides (int): The number of sides on the die.
    Returns:
        str: The number between 1 and num_sides.
    """
    return str(num_sides // 2)


class Conversation:
    """A conversation with one agent, which is deleted when it is over."""

    def __init__(self, transcript: Transcript, provider: Provider, settle: float, agent_id: str):
        self.transcript = transcript
        self.provider = provider
        self.agent_id = agent_id
        self._settle = settle

    @classmethod
    @contextmanager
    def begin(
        cls,
        transcript: Transcript,
        provider: Provider,
        settle: float,
        tools: tuple[Callable[..., str], ...] = (),
        model: str = MODEL,
        **more: Any,
    ) -> Iterator["Conversation"]:
        tool_ids = [tool_of(transcript, tool) for tool in (get_secret_code_tool, *tools)]
        agent = agent_of(transcript, tool_ids, model=model, **{"tags": ["approval"], **more})
        conversation = cls(transcript, provider, settle, agent.id)
        try:
            yield conversation
        finally:
            transcript.call("agents.delete", agent_id=agent.id)

    def user(self, text: str) -> dict[str, Any]:
        return {"role": "user", "content": text, "otid": self.transcript.mint("otid", str(uuid4()))}

    def plain(self, *messages: dict[str, Any], **more: Any) -> list[Any]:
        answer = self.transcript.call(
            "agents.messages.create", agent_id=self.agent_id, messages=list(messages), **more
        )
        return answer.messages

    def steps(self, *messages: dict[str, Any], **more: Any) -> list[Any]:
        return self.stream(*messages, stream_tokens=False, **more)

    def tokens(self, *messages: dict[str, Any], **more: Any) -> list[Any]:
        return self.stream(*messages, stream_tokens=True, **more)

    def stream(
        self,
        *messages: dict[str, Any],
        meanwhile: Callable[[list[Any]], None] | None = None,
        leave: Callable[[list[Any]], bool] | None = None,
        **more: Any,
    ) -> list[Any]:
        """Reads a stream to its end, or until it leaves; calls `meanwhile` with what came, after each
        message."""
        try:
            return self.transcript.each(
                "agents.messages.stream",
                meanwhile,
                leave,
                agent_id=self.agent_id,
                messages=list(messages),
                **more,
            )
        finally:
            self.settle()

    def settle(self) -> None:
        """A live server goes on closing a stream for a moment after its last event."""
        time.sleep(self._settle)

    def state(self) -> Any:
        return self.transcript.call(
            "agents.retrieve", agent_id=self.agent_id, include=["agent.pending_approval"]
        )

    def context(self) -> None:
        self.transcript.call("get", f"/v1/agents/{self.agent_id}/context", cast_to=dict[str, object])

    def history(self, **cursor: Any) -> list[Any]:
        page = self.transcript.call(
            "agents.messages.list", agent_id=self.agent_id, order="asc", **cursor
        )
        return page.items

    def whole_history(self) -> None:
        self.transcript.each("agents.messages.list", agent_id=self.agent_id, order="asc", limit=3)

    def cancel(self, *run_ids: str) -> Any:
        more = {"run_ids": list(run_ids)} if run_ids else {}
        return self.transcript.call("agents.messages.cancel", agent_id=self.agent_id, **more)

    def run(self, run_id: str) -> Any:
        return self.transcript.call("runs.retrieve", run_id=run_id)

    def run_to_its_end(self, run_id: str) -> Any:
        ended = self.transcript.poll(
            lambda: self.transcript.silent("runs.retrieve", run_id=run_id),
            lambda run: run.status in ENDED,
        )
        self.settle()
        return ended


def tool_of(transcript: Transcript, function: Callable[..., str]) -> str:
    needs_approval = {"default_requires_approval": True} if function is get_secret_code_tool else {}
    tool = transcript.call("tools.upsert_from_function", func=function, **needs_approval)
    return tool.id


def agent_of(transcript: Transcript, tool_ids: list[str], **more: Any) -> Any:
    return transcript.call(
        "agents.create",
        **{
            "name": transcript.mint("agent_name", f"approval-{uuid4()}"),
            "agent_type": "letta_v1_agent",
            "include_base_tools": False,
            "include_base_tool_rules": False,
            "tool_ids": tool_ids,
            "tool_rules": [],
            "model": MODEL,
            "embedding": EMBEDDING,
            **more,
        },
    )


def approve(tool_call_id: str, **more: str) -> dict[str, Any]:
    return answer(approval(tool_call_id, True, **more))


def deny(tool_call_id: str) -> dict[str, Any]:
    reason = f"You don't need to call the tool, the secret code is {SECRET_CODE}"
    return answer(approval(tool_call_id, False, reason=reason))


def tool_return(tool_call_id: str) -> dict[str, Any]:
    return answer(returned(tool_call_id))


def approval(tool_call_id: str, approve: bool, **more: str) -> dict[str, Any]:
    return {"type": "approval", "approve": approve, "tool_call_id": tool_call_id, **more}


def returned(tool_call_id: str) -> dict[str, Any]:
    return {
        "type": "tool",
        "tool_call_id": tool_call_id,
        "tool_return": SECRET_CODE,
        "status": "success",
    }


def answer(*answers: dict[str, Any]) -> dict[str, Any]:
    return {"type": "approval", "approvals": list(answers)}


def of_type(messages: list[Any], kind: str) -> list[Any]:
    return [item for item in messages if getattr(item, "message_type", None) == kind]


def awaited_call(messages: list[Any]) -> str:
    return of_type(messages, "approval_request_message")[0].tool_call.tool_call_id


ANSWERS = {"approve": approve, "deny": deny, "return": tool_return}
