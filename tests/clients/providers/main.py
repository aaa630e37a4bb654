"""Has conversations through the SDKs of model providers and writes what they said, a file for each."""

import sys
from pathlib import Path

import anthropic_conversations
import openai_conversations

sys.path.append(str(Path(__file__).parents[1]))
from driver import drive, parser  # noqa: E402

SDKS = {
    name: sdk for sdk in (openai_conversations, anthropic_conversations) for name in sdk.SCENARIOS
}


def main() -> int:
    options = parser(__doc__, SDKS).parse_args()
    return drive(options, SDKS, lambda name, url: SDKS[name].run(name, url))


if __name__ == "__main__":
    sys.exit(main())
