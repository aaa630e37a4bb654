"""Runs that are cancelled, that fail, and that the client leaves."""

from functools import partial
from typing import Any

from conversation import (
    ASK,
    Conversation,
    approve,
    awaited_call,
    get_secret_code_tool,
    of_type,
    roll_dice_tool,
)
from hitl import PARALLEL
from provider import Provider
from transcript import Transcript

# The server looks every half a second whether a run was cancelled. A word takes longer than that, so the
# run ends at the same word each time.
COUNT = (
    "[[stub:delay=700]] [[stub:script "
    '[[{"reasoning": "Counting."}, {"text": "one two three four five"}]] ]]'
)
# A word takes most of the time that the recorder waits for more when its client has left.
SLOW_COUNT = (
    "[[stub:delay=3000]] [[stub:script "
    '[[{"reasoning": "Counting."}, {"text": "one two three four"}]] ]]'
)
# Two steps: a tool is called, then something is said.
TWO_STEPS = (
    "[[stub:script "
    '[[{"tool": "roll_dice_tool", "args": {"num_sides": 16}}], '
    '[{"reasoning": "It was rolled."}, {"text": "one two three four five six"}]] ]]'
)
ROLL = "Call the roll_dice_tool with a 16 sided die."


def slow_tool(seconds: int) -> str:
    """
    A tool that takes its time.
    Args:
        seconds (int): How long.
    Returns:
        str: What it has done.
    """
    import time

    time.sleep(seconds)
    return f"waited {seconds} s"


def before_start(transcript: Transcript, provider: Provider, settle: float) -> None:
    """A run is cancelled before it has said anything, and once more."""
    with Conversation.begin(transcript, provider, settle) as conversation:
        run = transcript.call(
            "agents.messages.create_async",
            agent_id=conversation.agent_id,
            # The model says nothing as long as somebody looks: the server keeps what comes after all.
            messages=[conversation.user("[[stub:hang=30]] Hello.")],
        )
        conversation.cancel(run.id)
        conversation.run(run.id)
        conversation.cancel(run.id)
        conversation.settle()
        conversation.state()
        transcript.refused(conversation.cancel)


def mid_tokens(background: bool, transcript: Transcript, provider: Provider, settle: float) -> None:
    with Conversation.begin(transcript, provider, settle) as conversation:
        said = conversation.tokens(
            conversation.user(COUNT),
            meanwhile=_once(conversation, "assistant_message", times=2),
            background=background,
        )
        run = said[0].run_id
        conversation.run(run)
        if background:
            transcript.each("runs.messages.stream", path_run_id=run, starting_after=0)
        transcript.each("runs.messages.list", run_id=run, order="asc")
        conversation.whole_history()
        conversation.state()
        conversation.plain(conversation.user("Hello."))


def between_steps(transcript: Transcript, provider: Provider, settle: float) -> None:
    """The first step is told of as a whole; of the second one nothing is."""
    with Conversation.begin(transcript, provider, settle, (roll_dice_tool,)) as conversation:
        # The run is cancelled long before the model answers for the second time.
        with provider.slow(3):
            said = conversation.steps(
                conversation.user(TWO_STEPS), meanwhile=_once(conversation, "tool_return_message")
            )
        conversation.run(said[0].run_id)
        conversation.whole_history()
        conversation.state()
        conversation.plain(conversation.user("Hello."))


def while_tool_runs(transcript: Transcript, provider: Provider, settle: float) -> None:
    """The tool comes to its end; the step behind it never begins."""
    with Conversation.begin(transcript, provider, settle, (slow_tool,)) as conversation:
        said = conversation.tokens(
            conversation.user("Call the slow_tool with 3 seconds."),
            meanwhile=_once(conversation, "tool_call_message"),
        )
        conversation.run(said[0].run_id)
        conversation.whole_history()
        conversation.state()
        conversation.plain(conversation.user("Hello."))


def while_waiting(transcript: Transcript, provider: Provider, settle: float) -> None:
    """An approval that is waited for is taken back; then a run without it works."""
    with Conversation.begin(transcript, provider, settle, (roll_dice_tool,)) as conversation:
        asked = conversation.plain(conversation.user(ASK))
        conversation.state()
        run = asked[0].run_id
        conversation.cancel(run)
        conversation.run(run)
        conversation.state()
        conversation.whole_history()
        conversation.plain(approve(awaited_call(asked)))
        conversation.plain(conversation.user(ROLL))
        conversation.state()


def while_waiting_for_several(transcript: Transcript, provider: Provider, settle: float) -> None:
    with Conversation.begin(transcript, provider, settle, (roll_dice_tool,)) as conversation:
        transcript.call("agents.update", agent_id=conversation.agent_id, parallel_tool_calls=True)
        asked = conversation.plain(conversation.user(PARALLEL))
        run = asked[0].run_id
        transcript.refused(conversation.plain, conversation.user("Hello, how are you?"))
        conversation.cancel(run)
        conversation.run(run)
        conversation.history(limit=100)
        conversation.plain(conversation.user("Hello."))
        conversation.state()


def with_max_steps(transcript: Transcript, provider: Provider, settle: float) -> None:
    """The tool is in the last step that is allowed, and the run is cancelled while it works."""
    tools = (slow_tool, roll_dice_tool)
    with Conversation.begin(transcript, provider, settle, tools) as conversation:
        said = conversation.tokens(
            conversation.user("Call the slow_tool with 3 seconds."),
            meanwhile=_once(conversation, "tool_call_message"),
            max_steps=1,
        )
        conversation.run(said[0].run_id)
        said = conversation.steps(conversation.user(ROLL), max_steps=1)
        conversation.run(said[0].run_id)


def model_failure(
    directive: str, background: bool, transcript: Transcript, provider: Provider, settle: float
) -> None:
    with Conversation.begin(transcript, provider, settle) as conversation:
        said: list[Any] = []
        transcript.refused(
            lambda message: conversation.tokens(
                message, meanwhile=lambda so_far: said.extend(so_far[-1:]), background=background
            ),
            conversation.user(f"[[stub:{directive}]] Hello."),
        )
        conversation.run(said[0].run_id)
        conversation.state()
        conversation.plain(conversation.user("Hello."))


def client_leaves(transcript: Transcript, provider: Provider, settle: float) -> None:
    """The client hangs up in the middle of a stream, and comes back for the rest of the run."""
    with Conversation.begin(transcript, provider, settle) as conversation:
        said = conversation.tokens(
            conversation.user(SLOW_COUNT),
            leave=lambda so_far: len(of_type(so_far, "assistant_message")) == 2,
            background=True,
        )
        run = said[0].run_id
        transcript.each(
            "runs.messages.stream", path_run_id=run, starting_after=said[-1].seq_id
        )
        conversation.run_to_its_end(run)
        conversation.whole_history()


def _once(conversation: Conversation, kind: str, times: int = 1) -> Any:
    """Cancels what is under way when the message of a kind has come so many times."""
    done: list[bool] = []

    def meanwhile(so_far: list[Any]) -> None:
        if not done and len(of_type(so_far, kind)) == times:
            done.append(True)
            conversation.cancel()

    return meanwhile


FAILURES = {
    "llm_error": "error=500",
    "llm_gateway_timeout": "error=504",
    "llm_rate_limit": "error=429",
    "llm_authentication": "error=401",
    "internal_error": "drop",
}
SCENARIOS = {
    "cancel/before_start": before_start,
    "cancel/between_steps": between_steps,
    "cancel/mid_tokens": partial(mid_tokens, False),
    "cancel/mid_tokens_in_background": partial(mid_tokens, True),
    "cancel/while_tool_runs": while_tool_runs,
    "cancel/while_waiting": while_waiting,
    "cancel/while_waiting_for_several": while_waiting_for_several,
    "cancel/with_max_steps": with_max_steps,
    "cancel/client_leaves": client_leaves,
    **{
        f"cancel/{name}": partial(model_failure, directive, True)
        for name, directive in FAILURES.items()
    },
}
