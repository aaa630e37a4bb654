"""Conversations with the server in `server.py`."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

import anyio
from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import CreateMessageResult, ElicitResult, TextContent

from transcript import Transcript


async def elicited(context: Any, params: Any) -> ElicitResult:
    return ElicitResult(action="accept", content={"row": 12, "window": True})


async def sampled(context: Any, params: Any) -> CreateMessageResult:
    text = TextContent(type="text", text=f"{params.messages[0].content.text[:12]}, in short")
    return CreateMessageResult(role="assistant", model="a-small-model", content=text)


class Conversation:
    def __init__(self, transcript: Transcript, client: Client) -> None:
        self._transcript = transcript
        self._client = client

    async def call(self, tool: str, **arguments: Any) -> Any:
        return await self._transcript.call(
            f"call {tool}", lambda note: self._client.call_tool(tool, arguments)
        )

    async def call_with_progress(self, tool: str, **arguments: Any) -> None:
        async def call(note: Callable[[Any], None]) -> Any:
            async def told(progress: float, total: float | None, message: str | None) -> None:
                note([progress, total, message])

            return await self._client.call_tool(tool, arguments, progress_callback=told)

        await self._transcript.call(f"call {tool} with progress", call)

    async def abandon(self, tool: str, **arguments: Any) -> None:
        """Cancels a call as soon as it tells of progress."""

        async def call(note: Callable[[Any], None]) -> Any:
            with anyio.CancelScope() as scope:

                async def told(progress: float, total: float | None, message: str | None) -> None:
                    note([progress, total, message])
                    scope.cancel()

                await self._client.call_tool(tool, arguments, progress_callback=told)
            return {"cancelled": scope.cancelled_caught}

        await self._transcript.call(f"abandon {tool}", call)

    async def read(self, uri: str) -> None:
        await self._transcript.call("read", lambda note: self._client.read_resource(uri))

    async def lists(self) -> None:
        for what in ("tools", "resources", "resource_templates", "prompts"):
            ask = getattr(self._client, f"list_{what}")
            await self._transcript.call(f"list {what}", lambda note, ask=ask: ask())
        await self._transcript.call(
            "get prompt", lambda note: self._client.get_prompt("ask_for_flight", {"city": "Oslo"})
        )

    async def tickets(self) -> None:
        reference = self._transcript.mint("reference", str(uuid4()))
        booked = await self.call("book", flight="LX 38", reference=reference)
        ticket = booked.structured_content["ticket"]
        await self.read(f"ticket://{ticket}")
        await self.call("cancel", ticket=ticket)
        await self.call("cancel", ticket=ticket)

    async def questions(self) -> None:
        await self.call("choose", flight="LX 40")
        await self.call("shorten", text="All passengers are asked to go to gate B 12 at once.")

    async def mistakes(self) -> None:
        await self.call("crash")
        await self.call("no_such_tool")
        await self.call("board", groups="many")
        await self.read("ticket://none")

    async def side_by_side(self) -> None:
        """Three calls at once, each with progress of its own."""
        said: dict[int, Any] = {}

        async def board(groups: int) -> None:
            seen: list[Any] = []

            async def told(progress: float, total: float | None, message: str | None) -> None:
                seen.append([progress, total, message])

            answer = await self._client.call_tool(
                "board", {"groups": groups}, progress_callback=told
            )
            said[groups] = {"progress": seen, "answer": answer}

        async def all_of_them(note: Callable[[Any], None]) -> Any:
            async with anyio.create_task_group() as group:
                for groups in (2, 3, 4):
                    group.start_soon(board, groups)
            return [said[groups] for groups in sorted(said)]

        await self._transcript.call("board side by side", all_of_them)


async def stateful(talk: Conversation) -> None:
    await talk.lists()
    await talk.read("flight://board")
    await talk.tickets()
    await talk.call_with_progress("board", groups=3)
    await talk.questions()
    await talk.mistakes()
    await talk.side_by_side()
    await talk.abandon("wait", gate="B 12")
    await talk.call("book", flight="LX 40", reference="none")


async def plain(talk: Conversation) -> None:
    await talk.lists()
    await talk.tickets()
    await talk.mistakes()
    await talk.side_by_side()


async def modern(talk: Conversation) -> None:
    await talk.lists()
    await talk.tickets()
    await talk.call_with_progress("board", groups=3)
    await talk.questions()
    await talk.mistakes()
    await talk.side_by_side()
    await talk.abandon("wait", gate="B 12")


SCENARIOS: dict[str, tuple[str, str, Callable[[Conversation], Awaitable[None]]]] = {
    # Sessions and streams, with the handshake that protocol versions up to 2025 have.
    "mcp/stateful": ("/mcp", "legacy", stateful),
    # The same versions without sessions; each answer is one JSON text.
    "mcp/plain": ("/plain", "legacy", plain),
    # The protocol of 2026: no handshake and no sessions; questions are answered by asking again.
    "mcp/modern": ("/mcp", "auto", modern),
}


async def run(name: str, base_url: str, command: list[str]) -> dict[str, Any]:
    """Has one conversation and gives back what the SDK said. A server is started by its command, if there is one."""
    path, mode, converse = SCENARIOS[name]
    transcript = Transcript()
    server: Any = base_url + path
    if command:
        program, *arguments = [word.replace("{name}", name.split("/")[1]) for word in command]
        server = stdio_client(StdioServerParameters(command=program, args=arguments))
    client = Client(server, mode=mode, elicitation_callback=elicited, sampling_callback=sampled)
    async with client:
        transcript.note("connect", [client.protocol_version, client.server_info])
        await converse(Conversation(transcript, client))
    return transcript.as_json()
