"""All conversations with a Letta server, by the names of their cassettes."""

from collections.abc import Callable
from typing import Any

import cancel
import e2e
import hitl
import integration
from letta_client import Letta
from provider import Provider
from transcript import Transcript

SCENARIOS: dict[str, Callable[[Transcript, Provider, float], None]] = {
    **hitl.SCENARIOS,
    **cancel.SCENARIOS,
    **e2e.SCENARIOS,
    **integration.SCENARIOS,
}


def run(name: str, base_url: str, settle: float, swapped: bool) -> dict[str, Any]:
    """Runs one scenario against a server and gives back what the SDK said.

    The SDK retries 409 by itself, which would hide the refusals that are the point here.
    """
    client = Letta(base_url=base_url, api_key="not-needed", max_retries=0, timeout=120)
    transcript = Transcript(client, swapped)
    provider = Provider()
    try:
        SCENARIOS[name](transcript, provider, settle)
    finally:
        provider.forget()
    return transcript.as_json()
