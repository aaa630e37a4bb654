// A conversation with Letta's App Server by the client that its own package ships.
//   letta.mjs SCENARIO...     LETTA_CODE: the unpacked package; WORK: a folder in which the tool may run
import { createRequire } from "node:module";

const code = process.env.LETTA_CODE;
const work = process.env.WORK;
const { createAppServerClient } = await import(`${code}/dist/app-server-client.js`);
const WebSocket = createRequire(`${code}/package.json`)("ws");

process.on("unhandledRejection", (error) => {
  console.error(error.stack ?? error);
  process.exit(1);
});

class Talk {
  constructor(url, name) {
    this.waiting = new Set();
    this.name = name;
    this.client = createAppServerClient({ url, WebSocket, requestTimeoutMs: 60000 });
    this.client.onMessage((message) => {
      for (const wanted of this.waiting) {
        if (wanted.fits(message)) {
          this.waiting.delete(wanted);
          wanted.found(message);
        }
      }
    });
  }

  // The next message that fits.
  until(what, fits) {
    return new Promise((found, fail) => {
      this.waiting.add({ fits, found });
      setTimeout(() => fail(new Error(`${this.name}: no ${what}`)), 60000).unref();
    });
  }

  async begin() {
    await this.client.connect();
    // The last of what the server says about a new conversation: what comes next is about the first message.
    const told = this.until("update_subagent_state", (message) => message.type === "update_subagent_state");
    const agent = { name: this.name, model: "openai-compatible/gpt-4o", system: "You are a test agent." };
    agent.memory_blocks = [{ label: "human", value: "Sam" }];
    const { runtime } = await this.client.runtimeStart({
      create_agent: { body: agent, pin_global: false, memfs: false },
      create_conversation: { body: {} },
      mode: "standard",
      cwd: work,
      recover_approvals: false,
      client_info: { name: "lab" },
    });
    this.runtime = runtime;
    await told;
  }

  say(content) {
    let end;
    const ends = (message) => message.type === "turn_finished" && (end ??= message) === message;
    this.until("turn_finished", ends);
    // The last of what it says then: it would come before the client leaves, or not.
    const rests = (message) => end && message.type === "update_device_status";
    const over = this.until("update_device_status", rests).then(() => end);
    const messages = [{ role: "user", content }];
    const payload = { kind: "create_message", messages, client_tool_allowlist: ["Bash"] };
    this.client.input({ runtime: this.runtime, payload });
    return over;
  }

  async decide(decision) {
    let isAsked = false;
    const asks = (message) => (isAsked ||= message.type === "control_request" && message.request?.subtype === "can_use_tool");
    const asked = this.until("control_request", asks);
    // The last of what it says then.
    const waits = this.until("update_device_status", (message) => isAsked && message.type === "update_device_status");
    // A command that only reads would be allowed without asking.
    const tool = { tool: "Bash", args: { command: `touch ${work}/made && echo 42`, description: "say" } };
    const script = [[tool], [{ text: "That was it." }]];
    const turn = this.say(`[[stub:script ${JSON.stringify(script)} ]] run it`);
    const question = await asked;
    await waits;
    const payload = { kind: "approval_response", request_id: question.request_id, decision };
    this.client.input({ runtime: this.runtime, payload });
    return [question.request.tool_name, (await turn).stop_reason];
  }
}

const scenarios = {
  async allow(talk) {
    await talk.begin();
    const hello = await talk.say("Hello there, tell me something.");
    return [hello.stop_reason, ...(await talk.decide({ behavior: "allow" }))];
  },
  async deny(talk) {
    await talk.begin();
    return talk.decide({ behavior: "deny", message: "not today" });
  },
  async interrupt(talk) {
    await talk.begin();
    const spoken = talk.until("assistant_message", (message) => message.delta?.message_type === "assistant_message");
    const turn = talk.say("[[stub:delay=400]] [[stub:words=200]] Tell me a long story.");
    await spoken;
    const aborted = await talk.client.abort({ runtime: talk.runtime });
    return [aborted.aborted, (await turn).stop_reason];
  },
};

const base = process.env.RETAPE_URL.replace(/^http/, "ws");
for (const name of process.argv.slice(2)) {
  const url = `${base}/letta-app/${name}/-`;
  const names = name === "two" ? ["ann", "bob"] : [name];
  const talks = names.map((name) => new Talk(url, name));
  const heard = await Promise.all(talks.map((talk) => (scenarios[name] ?? scenarios.allow)(talk)));
  console.log(name, JSON.stringify(heard));
  talks.forEach((talk) => talk.client.close());
}
setTimeout(() => process.exit(0), 100);
