// Conversations with Codex's app server, JSON-RPC over WebSocket.
//   codex.cjs SCENARIO...     WORK: a folder in which a command may run; NODE_PATH: where `ws` is
const WebSocket = require("ws");

const work = process.env.WORK;

class Talk {
  constructor(url) {
    this.socket = new WebSocket(url);
    this.calls = new Map();
    this.waiting = new Set();
    this.id = 0;
    this.asked = [];
    this.socket.on("message", (data) => this.hear(JSON.parse(data)));
    this.socket.on("error", (error) => fail(error));
    this.socket.on("close", (code, reason) => code >= 4000 && fail(new Error(`${code} ${reason}`)));
  }

  hear(message) {
    if (message.method === undefined) {
      this.calls.get(message.id)?.(message.error ?? message.result);
      this.calls.delete(message.id);
    } else if (message.id !== undefined) {
      this.asked.push(message.method);
      this.send({ id: message.id, result: { decision: this.decision } });
    }
    for (const wanted of this.waiting) {
      if (message.method === wanted.method) {
        this.waiting.delete(wanted);
        wanted.found(message.params);
      }
    }
  }

  send(message) {
    this.socket.send(JSON.stringify(message));
  }

  call(method, params) {
    const id = ++this.id;
    this.send({ id, method, params });
    return new Promise((found) => this.calls.set(id, found));
  }

  until(method) {
    return new Promise((found) => this.waiting.add({ method, found }));
  }

  async begin(approvalPolicy) {
    await new Promise((found) => this.socket.on("open", found));
    await this.call("initialize", { clientInfo: { name: "lab", title: "lab", version: "1" } });
    this.send({ method: "initialized" });
    const { thread } = await this.call("thread/start", { cwd: work, approvalPolicy, sandbox: "read-only" });
    this.thread = thread.id;
  }

  async turn(text, meanwhile = async () => {}) {
    const over = this.until("turn/completed");
    const input = [{ type: "text", text, text_elements: [] }];
    const { turn } = await this.call("turn/start", { threadId: this.thread, input });
    await meanwhile(turn.id);
    return (await over).turn.status;
  }

  async command(decision) {
    this.decision = decision;
    await this.begin("untrusted");
    const args = { cmd: `touch ${work}/made && echo 42` };
    const script = [[{ tool: "exec_command", args }], [{ text: "That was it." }]];
    const status = await this.turn(`[[stub:script ${JSON.stringify(script)} ]] run it`);
    return [this.asked, status];
  }
}

const scenarios = {
  async plain(talk) {
    await talk.begin("never");
    return talk.turn("hi");
  },
  allow: (talk) => talk.command("accept"),
  deny: (talk) => talk.command("decline"),
  async interrupt(talk) {
    await talk.begin("never");
    const spoken = talk.until("item/agentMessage/delta");
    return talk.turn("[[stub:delay=40]] [[stub:words=200]] Tell me a long story.", async (turnId) => {
      await spoken;
      await talk.call("turn/interrupt", { threadId: talk.thread, turnId });
    });
  },
};

function fail(error) {
  console.error(error.message ?? error);
  process.exit(1);
}

async function main() {
  const base = process.env.RETAPE_URL.replace(/^http/, "ws");
  for (const name of process.argv.slice(2)) {
    const talks = (name === "two" ? [1, 2] : [1]).map(() => new Talk(`${base}/codex/${name}/-`));
    const heard = await Promise.all(talks.map((talk) => (scenarios[name] ?? scenarios.plain)(talk)));
    console.log(name, JSON.stringify(heard));
    talks.forEach((talk) => talk.socket.close(1000));
  }
}

main().catch(fail);
setTimeout(() => fail(new Error("no end within a minute")), 60000).unref();
