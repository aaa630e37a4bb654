// Conversations with a Letta server in which a person approves, denies or answers a tool call.

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Letta } from "@letta-ai/letta-client";
import { Transcript } from "./transcript.mjs";

const MODEL = "anthropic/claude-sonnet-4-5-20250929";
const EMBEDDING = "openai/text-embedding-3-small";
const ASK = "Call the get_secret_code_tool to get the code for text 'hello world'.";
const SECRET_CODE = "740845635798344975";
const TOOL_SOURCE = `def get_secret_code_tool(input_text: str) -> str:
    """
    A tool that returns the secret code based on the input. This tool requires approval before execution.
    Args:
        input_text (str): The input text to process.
    Returns:
        str: The secret code based on the input text.
    """
    return str(sum(map(ord, input_text)))
`;

class Conversation {
  #transcript;
  #agentId;
  #settle;

  constructor(transcript, agentId, settle) {
    this.#transcript = transcript;
    this.#agentId = agentId;
    this.#settle = settle;
  }

  static async begin(transcript, settle) {
    const tool = await transcript.call("tools.upsert", {
      source_code: TOOL_SOURCE,
      default_requires_approval: true,
    });
    const agent = await transcript.call("agents.create", {
      name: transcript.mint("agent_name", `approval-${randomUUID()}`),
      agent_type: "letta_v1_agent",
      include_base_tools: false,
      include_base_tool_rules: false,
      tool_ids: [tool.id],
      tool_rules: [],
      model: MODEL,
      embedding: EMBEDDING,
      tags: ["approval"],
    });
    return new Conversation(transcript, agent.id, settle);
  }

  end() {
    return this.#transcript.call("agents.delete", this.#agentId);
  }

  user(text) {
    return { role: "user", content: text, otid: this.#transcript.mint("otid", randomUUID()) };
  }

  async plain(message) {
    const answer = await this.#transcript.call("agents.messages.create", this.#agentId, {
      messages: [message],
    });
    return answer.messages;
  }

  steps(message) {
    return this.#stream(message, false);
  }

  tokens(message) {
    return this.#stream(message, true);
  }

  state() {
    return this.#transcript.call("agents.retrieve", this.#agentId, {
      include: ["agent.pending_approval"],
    });
  }

  context() {
    return this.#transcript.call("get", `/v1/agents/${this.#agentId}/context`);
  }

  async history(cursor) {
    const page = await this.#transcript.call("agents.messages.list", this.#agentId, {
      order: "asc",
      ...cursor,
    });
    return page.items;
  }

  wholeHistory() {
    return this.#transcript.each("agents.messages.list", this.#agentId, {
      order: "asc",
      limit: 3,
    });
  }

  run(id) {
    return this.#transcript.call("runs.retrieve", id);
  }

  // Reads a stream, and cancels what is under way when so many assistant messages have come.
  async cancelledTokens(message, times) {
    let left = times;
    try {
      return await this.#transcript.each(
        "agents.messages.stream",
        this.#agentId,
        { messages: [message], stream_tokens: true },
        async (item) => {
          left -= item.message_type === "assistant_message";
          if (left === 0) {
            left = NaN;
            await this.#transcript.call("agents.messages.cancel", this.#agentId);
          }
        },
      );
    } finally {
      await sleep(this.#settle);
    }
  }

  async #stream(message, streamTokens) {
    try {
      return await this.#transcript.each("agents.messages.stream", this.#agentId, {
        messages: [message],
        stream_tokens: streamTokens,
      });
    } finally {
      await sleep(this.#settle);
    }
  }
}

function approve(toolCallId, more = {}) {
  return answer({ type: "approval", approve: true, tool_call_id: toolCallId, ...more });
}

function deny(toolCallId) {
  const reason = `You don't need to call the tool, the secret code is ${SECRET_CODE}`;
  return answer({ type: "approval", approve: false, tool_call_id: toolCallId, reason });
}

function toolReturn(toolCallId) {
  return answer({
    type: "tool",
    tool_call_id: toolCallId,
    tool_return: SECRET_CODE,
    status: "success",
  });
}

function answer(approval) {
  return { type: "approval", approvals: [approval] };
}

function awaitedCall(messages) {
  const request = messages.find((item) => item.message_type === "approval_request_message");
  return request.tool_call.tool_call_id;
}

function hitl(reply, mode) {
  return async (transcript, settle) => {
    const conversation = await Conversation.begin(transcript, settle);
    await conversation.state();
    const asked = await conversation[mode](conversation.user(ASK));
    await conversation.state();
    const seen = await conversation.history({ limit: 100 });
    await conversation[mode](reply(awaitedCall(asked)));
    await conversation.history({ after: seen.at(-1).id });
    await conversation.context();
    await conversation[mode](conversation.user("Thank you for the secret code."));
    await conversation.wholeHistory();
    await conversation.state();
    await conversation.end();
  };
}

async function nothingPending(transcript, settle) {
  const conversation = await Conversation.begin(transcript, settle);
  const approval = approve(randomCall(transcript));
  await transcript.refused(() => conversation.plain(approval));
  await transcript.refused(() => conversation.tokens(approval));
  await conversation.plain(conversation.user("Hello."));
  await conversation.wholeHistory();
  await conversation.end();
}

async function userMessageWhilePending(transcript, settle) {
  const conversation = await Conversation.begin(transcript, settle);
  const asked = await conversation.plain(conversation.user(ASK));
  await transcript.refused(() => conversation.plain(conversation.user("Hello.")));
  await transcript.refused(() => conversation.tokens(conversation.user("Hello again.")));
  await conversation.state();
  await conversation.plain(approve(awaitedCall(asked)));
  await conversation.plain(conversation.user("Hello."));
  await conversation.wholeHistory();
  await conversation.end();
}

async function wrongToolCallId(transcript, settle) {
  const conversation = await Conversation.begin(transcript, settle);
  const asked = await conversation.plain(conversation.user(ASK));
  const wrong = approve(randomCall(transcript));
  await transcript.refused(() => conversation.plain(wrong));
  await transcript.refused(() => conversation.tokens(wrong));
  await conversation.state();
  await conversation.plain(approve(awaitedCall(asked)));
  await conversation.wholeHistory();
  await conversation.end();
}

// All that the server refuses, in one conversation. The right approval may also come first.
// What comes too late says so, or it would be the same request as the wrong one.
async function refusals(transcript, settle) {
  const conversation = await Conversation.begin(transcript, settle);
  const asked = await conversation.plain(conversation.user(ASK));
  const wrong = approve(randomCall(transcript));
  const late = approve(randomCall(transcript), { reason: "Better late than never." });
  const hasty = conversation.user("Hello.");
  await transcript.eitherWay(
    () => transcript.refused(() => conversation.plain(wrong)),
    async () => {
      await transcript.refused(() => conversation.plain(hasty));
      await conversation.plain(approve(awaitedCall(asked)));
    },
  );
  await transcript.refused(() => conversation.plain(late));
  await conversation.state();
  await conversation.plain(conversation.user("Thank you for the secret code."));
  await conversation.wholeHistory();
  await conversation.end();
}

async function sameMessages(transcript, settle) {
  const conversation = await Conversation.begin(transcript, settle);
  await conversation.plain(conversation.user("Hello."));
  await conversation.steps(conversation.user("Hello again."));
  await conversation.tokens(conversation.user("Hello once more."));
  await conversation.wholeHistory();
  await conversation.end();
}

// A word takes longer than the server waits before it looks whether the run was cancelled.
async function midTokens(transcript, settle) {
  const script = [[{ reasoning: "Counting." }, { text: "one two three four five" }]];
  const count = `[[stub:delay=700]] [[stub:script ${JSON.stringify(script)} ]]`;
  const conversation = await Conversation.begin(transcript, settle);
  const said = await conversation.cancelledTokens(conversation.user(count), 2);
  await conversation.run(said[0].run_id);
  await conversation.wholeHistory();
  await conversation.state();
  await conversation.plain(conversation.user("Hello."));
  await conversation.end();
}

function randomCall(transcript) {
  return transcript.mint("tool_call_id", `call_${randomUUID()}`);
}

const ANSWERS = { approve, deny, return: toolReturn };
const MODES = ["plain", "steps", "tokens"];

export const SCENARIOS = {
  ...Object.fromEntries(
    Object.entries(ANSWERS).flatMap(([name, reply]) =>
      MODES.map((mode) => [`hitl/${name}_${mode}`, hitl(reply, mode)]),
    ),
  ),
  "cancel/mid_tokens": midTokens,
  "e2e/same_messages": sameMessages,
  "errors/nothing_pending": nothingPending,
  "errors/user_message_while_pending": userMessageWhilePending,
  "errors/wrong_tool_call_id": wrongToolCallId,
  "errors/refusals": refusals,
};

// Runs one scenario against a server and gives back what the SDK said.
// The SDK retries 409 by itself, which would hide the refusals that are the point here.
export async function run(name, baseURL, settle, swapped) {
  const client = new Letta({ baseURL, apiKey: "not-needed", maxRetries: 0 });
  const transcript = new Transcript(client, swapped);
  await SCENARIOS[name](transcript, settle);
  return transcript;
}
