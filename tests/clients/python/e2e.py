"""Conversations that go through the whole server: agents, streams, files, exports, outages."""

import io
import json
from functools import partial
from typing import Any
from uuid import uuid4

from conversation import EMBEDDING, Conversation, agent_of, of_type, roll_dice_tool
from letta_client import Stream
from provider import Provider
from transcript import Transcript

ROLL = "Call the roll_dice_tool with a 16 sided die."


def agents(transcript: Transcript, provider: Provider, settle: float) -> None:
    """Created, found by name and by tags, page by page, changed and deleted."""
    name = transcript.mint("agent_name", f"crud-{uuid4()}")
    tag = transcript.mint("tag", f"tag-{uuid4()}")
    blocks = [{"label": "human", "value": "Name: Bob"}]
    made = [
        agent_of(transcript, [], name=f"{name}-{number}", tags=[tag, f"{tag}-{number}"], **more)
        for number, more in enumerate([{"memory_blocks": blocks}, {"metadata": {"k": 1}}, {}])
    ]
    first = made[0].id
    transcript.call("agents.list", name=f"{name}-1")
    transcript.call("agents.list", tags=[tag, f"{tag}-2"], match_all_tags=True)
    transcript.each("agents.list", tags=[tag], order="asc", limit=2)
    transcript.call("agents.retrieve", agent_id=first, include=["agent.blocks", "agent.tags"])
    transcript.call("agents.update", agent_id=first, name=f"{name}-renamed", description="Renamed.")
    transcript.call("agents.list", name=f"{name}-renamed")
    transcript.call("agents.blocks.list", agent_id=first)
    transcript.call("agents.blocks.retrieve", agent_id=first, block_label="human")
    transcript.call(
        "agents.blocks.update", agent_id=first, block_label="human", value="Name: Alice"
    )
    for agent in made:
        transcript.call("agents.delete", agent_id=agent.id)
    transcript.refused(transcript.call, "agents.retrieve", agent_id=first)
    transcript.call("agents.list", tags=[tag])


def ids(transcript: Transcript, provider: Provider, settle: float) -> None:
    """Two steps in one run: what belongs together says so."""
    with Conversation.begin(transcript, provider, settle, (roll_dice_tool,)) as conversation:
        said = conversation.tokens(conversation.user(ROLL))
        run = said[0].run_id
        conversation.run(run)
        transcript.each("runs.steps.list", run_id=run, order="asc")
        transcript.each("runs.messages.list", run_id=run, order="asc")
        transcript.call("runs.usage.retrieve", run_id=run)
        transcript.call("steps.retrieve", step_id=of_type(said, "tool_call_message")[0].step_id)
        conversation.whole_history()


def pings(transcript: Transcript, provider: Provider, settle: float) -> None:
    """Something to keep the connection alive, while the model takes its time."""
    with Conversation.begin(transcript, provider, settle) as conversation:
        conversation.tokens(
            conversation.user("[[stub:hang=23]] Hello."), include_pings=True, background=True
        )
        conversation.tokens(conversation.user("Hello."), include_pings=True)
        conversation.tokens(conversation.user("Hello again."), include_pings=False)


def same_messages(transcript: Transcript, provider: Provider, settle: float) -> None:
    """One conversation, for all clients."""
    with Conversation.begin(transcript, provider, settle) as conversation:
        conversation.plain(conversation.user("Hello."))
        conversation.steps(conversation.user("Hello again."))
        conversation.tokens(conversation.user("Hello once more."))
        conversation.whole_history()


def chat_completions(
    words: int, transcript: Transcript, provider: Provider, settle: float
) -> None:
    """The API of OpenAI, streamed; without streaming it is refused."""
    with Conversation.begin(transcript, provider, settle) as conversation:
        text = f"[[stub:words={words}]] Hello." if words else "Hello."
        asked = {
            "model": conversation.agent_id,
            "messages": [{"role": "user", "content": text}],
        }
        transcript.each(
            "post",
            path="/v1/chat/completions",
            body={**asked, "stream": True},
            cast_to=object,
            stream=True,
            stream_cls=Stream[object],
        )
        conversation.settle()
        transcript.refused(
            transcript.call,
            "post",
            path="/v1/chat/completions",
            body={**asked, "stream": False},
            cast_to=object,
        )


def voice(transcript: Transcript, provider: Provider, settle: float) -> None:
    """Long answers, streamed in the way of OpenAI; the endpoint for voice is gone."""
    chat_completions(200, transcript, provider, settle)
    with Conversation.begin(transcript, provider, settle) as conversation:
        transcript.refused(
            transcript.call,
            "post",
            path=f"/v1/voice-beta/{conversation.agent_id}/chat/completions",
            body={"messages": [{"role": "user", "content": "Hello."}], "stream": True},
            cast_to=object,
        )


def files(transcript: Transcript, provider: Provider, settle: float) -> None:
    """A file is uploaded, waited for, and read by an agent."""
    folder = transcript.call(
        "folders.create",
        name=transcript.mint("folder_name", f"notes-{uuid4()}"),
        embedding=EMBEDDING,
    )
    try:
        text = b"The quick brown fox jumps over the lazy dog.\n" * 20
        uploaded = transcript.call(
            "folders.files.upload", folder_id=folder.id, file=("notes.txt", text, "text/plain")
        )
        transcript.poll(
            lambda: transcript.silent(
                "folders.files.retrieve", folder_id=folder.id, file_id=uploaded.id
            ),
            lambda file: file.processing_status in ("completed", "error"),
        )
        transcript.each("folders.files.list", folder_id=folder.id)
        transcript.call("folders.retrieve", folder_id=folder.id)
        with Conversation.begin(transcript, provider, settle) as conversation:
            at = {"agent_id": conversation.agent_id}
            transcript.call("agents.folders.attach", folder_id=folder.id, **at)
            transcript.each("agents.folders.list", **at)
            transcript.each("agents.files.list", **at)
            transcript.call("agents.files.open", file_id=uploaded.id, **at)
            transcript.call("agents.files.close_all", **at)
            transcript.each("folders.agents.list", folder_id=folder.id)
            transcript.call("agents.folders.detach", folder_id=folder.id, **at)
        transcript.call("folders.files.delete", folder_id=folder.id, file_id=uploaded.id)
    finally:
        transcript.call("folders.delete", folder_id=folder.id)


def agent_file(transcript: Transcript, provider: Provider, settle: float) -> None:
    """An agent is exported, and what was exported is imported as another one."""
    blocks = [{"label": "human", "value": "Name: Bob"}]
    with Conversation.begin(transcript, provider, settle, memory_blocks=blocks) as conversation:
        conversation.plain(conversation.user("Hello."))
        exported = transcript.call("agents.export_file", agent_id=conversation.agent_id)
        text = exported if isinstance(exported, str) else json.dumps(exported)
        imported = transcript.call("agents.import_file", file=io.BytesIO(text.encode()))
        for agent in imported.agent_ids:
            transcript.each("agents.messages.list", agent_id=agent, order="asc")
            transcript.call("agents.delete", agent_id=agent)


def outage(transcript: Transcript, provider: Provider, settle: float) -> None:
    """The model provider limits, fails, is overloaded, or does not know who asks."""
    with Conversation.begin(transcript, provider, settle) as conversation:
        for directive in ("error=429", "error=500", "error=529", "error=401"):
            asked = conversation.user(f"[[stub:{directive}]] Hello.")
            transcript.refused(conversation.plain, asked)
        conversation.plain(conversation.user("Hello."))
        conversation.whole_history()


def conversations(transcript: Transcript, provider: Provider, settle: float) -> None:
    """Several conversations with one agent."""
    with Conversation.begin(transcript, provider, settle) as conversation:
        at = {"agent_id": conversation.agent_id}
        one = transcript.call("conversations.create", **at).id
        other = transcript.call("conversations.create", summary="The other one.", **at).id
        for number, text in ((one, "Hello."), (other, "Good morning.")):
            transcript.each(
                "conversations.messages.create",
                conversation_id=number,
                messages=[conversation.user(text)],
            )
            conversation.settle()
        for number in (one, other):
            transcript.each("conversations.messages.list", conversation_id=number, order="asc")
        transcript.call("conversations.retrieve", conversation_id=one)
        transcript.call("conversations.update", conversation_id=one, summary="The first one.")
        transcript.call("conversations.list", order="asc", **at)
        transcript.call("conversations.fork", conversation_id=one)
        transcript.refused(transcript.call, "conversations.cancel", conversation_id=one)
        transcript.call("conversations.delete", conversation_id=other)


def memory(transcript: Transcript, provider: Provider, settle: float) -> None:
    """Blocks, passages and archives."""
    block = transcript.call("blocks.create", label="notes", value="Nothing yet.", limit=2000)
    with Conversation.begin(transcript, provider, settle) as conversation:
        at = {"agent_id": conversation.agent_id}
        transcript.call("agents.blocks.attach", block_id=block.id, **at)
        transcript.call("blocks.update", block_id=block.id, value="The sky is blue.")
        transcript.call("blocks.retrieve", block_id=block.id)
        transcript.each("blocks.agents.list", block_id=block.id)
        transcript.call("agents.blocks.detach", block_id=block.id, **at)
        archive = transcript.call(
            "archives.create",
            name=transcript.mint("archive_name", f"archive-{uuid4()}"),
            embedding=EMBEDDING,
        )
        transcript.call("agents.archives.attach", archive_id=archive.id, **at)
        transcript.call("archives.retrieve", archive_id=archive.id)
        transcript.each("archives.list", **at)
        transcript.call("agents.passages.create", text="The sky is blue.", tags=["sky"], **at)
        passages = transcript.call("agents.passages.list", **at)
        transcript.call("agents.passages.search", query="sky", **at)
        transcript.call("agents.passages.delete", memory_id=passages[0].id, **at)
        transcript.call("agents.archives.detach", archive_id=archive.id, **at)
        transcript.call("archives.delete", archive_id=archive.id)
        transcript.call("agents.messages.reset", add_default_initial_messages=True, **at)
        transcript.call("agents.recompile", **at)
    transcript.call("blocks.delete", block_id=block.id)


def runs(transcript: Transcript, provider: Provider, settle: float) -> None:
    """A run in the background, asked about until it is done, and its stream once more."""
    with Conversation.begin(transcript, provider, settle, (roll_dice_tool,)) as conversation:
        run = transcript.call(
            "agents.messages.create_async",
            agent_id=conversation.agent_id,
            messages=[conversation.user(ROLL)],
        )
        conversation.run_to_its_end(run.id)
        transcript.each("runs.messages.list", run_id=run.id, order="asc")
        transcript.call("runs.list", agent_id=conversation.agent_id)
        said = conversation.tokens(conversation.user("Hello."), background=True)
        again = transcript.each(
            "runs.messages.stream", path_run_id=said[0].run_id, starting_after=0
        )
        half = of_type(again, "assistant_message")[2].seq_id
        transcript.each("runs.messages.stream", path_run_id=said[0].run_id, starting_after=half)


SCENARIOS: dict[str, Any] = {
    "e2e/agents": agents,
    "e2e/ids": ids,
    "e2e/pings": pings,
    "e2e/same_messages": same_messages,
    "e2e/chat_completions": partial(chat_completions, 0),
    "e2e/files": files,
    "e2e/agent_file": agent_file,
    "e2e/outage": outage,
    "e2e/conversations": conversations,
    "e2e/memory": memory,
    "e2e/runs": runs,
    "integration/voice": voice,
}
