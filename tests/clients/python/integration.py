"""Conversations in which the server works with others: tools, providers, agents, MCP servers."""

import inspect
import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any
from uuid import uuid4

from conversation import (
    ASK,
    MODEL,
    THANKS,
    Conversation,
    agent_of,
    approve,
    awaited_call,
    tool_of,
)
from provider import Provider
from transcript import Transcript


def first_secret_word() -> str:
    """
    Begins; says the word that the next tool wants.
    Returns:
        str: The first word.
    """
    return "hj2hwibbqm"


def second_secret_word(prev_secret_word: str) -> str:
    """
    Says the next word to who knows the first one.
    Args:
        prev_secret_word (str): The first word.
    Returns:
        str: The second word.
    """
    if prev_secret_word != "hj2hwibbqm":
        raise RuntimeError(f"wrong word {prev_secret_word}")
    return "banana"


def last_secret_word(prev_secret_word: str) -> str:
    """
    Ends the run of who knows the second word.
    Args:
        prev_secret_word (str): The second word.
    Returns:
        str: That it was right.
    """
    return f"{prev_secret_word} is right"


def talkative_tool(text: str) -> str:
    """
    A tool that writes to both of its outputs.
    Args:
        text (str): What it writes.
    Returns:
        str: What it returns.
    """
    import sys

    print("out: " + text)
    print("err: " + text, file=sys.stderr)
    return text.upper()


def failing_tool(text: str) -> str:
    """
    A tool that writes something, and fails.
    Args:
        text (str): What it writes.
    Returns:
        str: Nothing.
    """
    print("out: " + text)
    raise ValueError("it cannot be done: " + text)


def endless_tool(text: str) -> str:
    """
    A tool that takes longer than it may.
    Args:
        text (str): What it would return.
    Returns:
        str: The same text.
    """
    import time

    time.sleep(600)
    return text


def health(transcript: Transcript, provider: Provider, settle: float) -> None:
    transcript.call("health")
    transcript.call("models.list")
    transcript.call("models.embeddings.list")


def tool_graph(transcript: Transcript, provider: Provider, settle: float) -> None:
    """The first tool, its child, and the one that ends the run, each with what the one before said."""
    tools = (first_secret_word, second_secret_word, last_secret_word)
    rules = [
        {"type": "run_first", "tool_name": "first_secret_word"},
        {
            "type": "constrain_child_tools",
            "tool_name": "first_secret_word",
            "children": ["second_secret_word"],
        },
        {
            "type": "constrain_child_tools",
            "tool_name": "second_secret_word",
            "children": ["last_secret_word"],
        },
        {"type": "exit_loop", "tool_name": "last_secret_word"},
    ]
    script = [
        [{"tool": "first_secret_word", "args": {}}],
        [{"tool": "second_secret_word", "args": {"prev_secret_word": "hj2hwibbqm"}}],
        [{"tool": "last_secret_word", "args": {"prev_secret_word": "banana"}}],
    ]
    ask = f"Go through all tools. [[stub:script {json.dumps(script)} ]]"
    with Conversation.begin(transcript, provider, settle, tools, tool_rules=rules) as conversation:
        conversation.steps(conversation.user(ask))
        conversation.history(limit=100)


def model_provider(model: str, transcript: Transcript, provider: Provider, settle: float) -> None:
    """The same conversation with the models of several providers."""
    with Conversation.begin(transcript, provider, settle, model=model) as conversation:
        asked = conversation.tokens(conversation.user(ASK))
        conversation.tokens(approve(awaited_call(asked)))
        conversation.steps(conversation.user(THANKS))
        conversation.history(limit=100)


def multi_agent(transcript: Transcript, provider: Provider, settle: float) -> None:
    """One agent writes to another one, then to all that have a tag. One does not have it."""
    tag = transcript.mint("tag", f"team-{uuid4()}")
    names = ("send_message_to_agent_and_wait_for_reply", "send_message_to_agents_matching_tags")
    found = transcript.call("tools.list", names=list(names))
    # The server lists them in any order.
    tools = [tool.id for tool in sorted(found.items, key=lambda tool: tool.name or "")]
    team = [agent_of(transcript, [], tags=[tag]) for _ in range(2)]
    outsider = agent_of(transcript, [], tags=["outside"])
    everyone = [*team, outsider]
    try:
        with Conversation.begin(transcript, provider, settle) as conversation:
            for tool in tools:
                transcript.call(
                    "agents.tools.attach", agent_id=conversation.agent_id, tool_id=tool
                )
            direct, broadcast = names
            conversation.steps(
                conversation.user(f"Use the {direct} tool to say hello to agent {team[0].id}.")
            )
            conversation.steps(
                conversation.user(f"Use the {broadcast} tool to greet the agents with tags ['{tag}'].")
            )
            for agent in everyone:
                transcript.call(
                    "agents.messages.list", agent_id=agent.id, order="asc", limit=100
                )
    finally:
        for agent in everyone:
            transcript.call("agents.delete", agent_id=agent.id)


def agents_at_once(transcript: Transcript, provider: Provider, settle: float) -> None:
    """Four agents are asked at once, each on a connection of its own."""
    agents = [agent_of(transcript, []) for _ in range(4)]
    try:
        asked = [
            Conversation(transcript, provider, settle, agent.id).user(f"I am user {number}.")
            for number, agent in enumerate(agents)
        ]
        apart = [transcript.apart() for _ in agents]

        def stream(number: int) -> None:
            conversation = Conversation(apart[number], provider, settle, agents[number].id)
            conversation.tokens(asked[number])

        with ThreadPoolExecutor(max_workers=len(agents)) as pool:
            list(pool.map(stream, range(len(agents))))
        transcript.join(apart)
        for agent in agents:
            transcript.call("agents.messages.list", agent_id=agent.id, order="asc", limit=100)
    finally:
        for agent in agents:
            transcript.call("agents.delete", agent_id=agent.id)


def mcp(transcript: Transcript, provider: Provider, settle: float) -> None:
    """The tools of an MCP server, listed, run, and called by an agent."""
    server = transcript.call(
        "mcp_servers.create",
        server_name=transcript.mint("server_name", f"calculator-{uuid4()}"),
        config={"mcp_server_type": "streamable_http", "server_url": "http://127.0.0.1:9400/mcp"},
    )
    try:
        at = {"mcp_server_id": server.id}
        tools = {tool.name: tool.id for tool in transcript.call("mcp_servers.tools.list", **at)}
        run = partial(transcript.call, "mcp_servers.tools.run", **at)
        run(tool_id=tools["echo"], args={"message": "hello"})
        run(tool_id=tools["add"], args={"a": 2, "b": 3})
        run(tool_id=tools["multiply"], args={"a": 2, "b": 3})
        run(tool_id=tools["reverse_string"], args={"text": "hello"})
        run(
            tool_id=tools["create_person"],
            args={"person": {"name": "Bob", "address": {"street": "High Street", "number": 7}}},
        )
        transcript.call("mcp_servers.tools.retrieve", tool_id=tools["create_person"], **at)
        transcript.call("mcp_servers.refresh", **at)
        agent = agent_of(transcript, [tools["add"]])
        conversation = Conversation(transcript, provider, settle, agent.id)
        conversation.tokens(conversation.user("Call the add tool with a=2 and b=3."))
        transcript.call("agents.delete", agent_id=agent.id)
        transcript.call("mcp_servers.list")
    finally:
        transcript.call("mcp_servers.delete", mcp_server_id=server.id)


def sandbox(transcript: Transcript, provider: Provider, settle: float) -> None:
    """Tools that write, fail and take too long are run from their source, and called by an agent."""
    text = {"type": "string", "description": "What it writes."}
    parameters = {"type": "object", "properties": {"text": text}, "required": ["text"]}
    for tool in (talkative_tool, failing_tool, endless_tool):
        name = tool.__name__
        schema = {"name": name, "description": inspect.getdoc(tool), "parameters": parameters}
        body = {
            "source_code": inspect.getsource(tool),
            "args": {"text": "hello"},
            "name": name,
            "json_schema": schema,
        }
        transcript.call("post", "/v1/tools/run", cast_to=dict[str, object], body=body)
    with Conversation.begin(
        transcript, provider, settle, (talkative_tool, failing_tool)
    ) as conversation:
        for name in ("talkative_tool", "failing_tool"):
            conversation.steps(
                conversation.user(f'Call the {name} tool with text="hello".'), include_pings=False
            )
        conversation.history(limit=100)


def secrets(transcript: Transcript, provider: Provider, settle: float) -> None:
    """Credentials go to the server and come back; none of them may be kept."""
    secret = transcript.secret(f"sk-{uuid4().hex}{uuid4().hex}")
    with Conversation.begin(
        transcript, provider, settle, secrets={"SERVICE_API_KEY": secret}
    ) as conversation:
        conversation.state()
        tool = tool_of(transcript, talkative_tool)
        transcript.call("agents.tools.attach", agent_id=conversation.agent_id, tool_id=tool)
        transcript.call("agents.tools.list", agent_id=conversation.agent_id)
        transcript.call("agents.tools.detach", agent_id=conversation.agent_id, tool_id=tool)
        transcript.call("tools.retrieve", tool_id=tool)
        transcript.call("tools.delete", tool_id=tool)


PROVIDERS = {
    "anthropic": MODEL,
    "openai": "openai/gpt-4o-mini",
}
SCENARIOS: dict[str, Any] = {
    "integration/health": health,
    "integration/tool_graph": tool_graph,
    **{
        f"integration/provider_{name}": partial(model_provider, model)
        for name, model in PROVIDERS.items()
    },
    "integration/multi_agent": multi_agent,
    "integration/agents_at_once": agents_at_once,
    "integration/mcp": mcp,
    "integration/sandbox": sandbox,
    "integration/secrets": secrets,
}
