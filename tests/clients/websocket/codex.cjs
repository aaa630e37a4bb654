// Conversations with Codex's app server, JSON-RPC over WebSocket, or in lines over standard input and output.
//   codex.cjs SCENARIO...                  WORK: a folder in which a command may run; NODE_PATH: where `ws` is
//   codex.cjs SCENARIO... -- COMMAND...    the same over the standard input and output of a command; {name} in it
//                                          stands for the scenario
const { spawn } = require("node:child_process");
const { createInterface } = require("node:readline");

const work = process.env.WORK;

function overWebSocket(url, hear) {
  const WebSocket = require("ws");
  const socket = new WebSocket(url);
  socket.on("message", hear);
  socket.on("error", fail);
  socket.on("close", (code, reason) => code >= 4000 && fail(new Error(`${code} ${reason}`)));
  return {
    opened: new Promise((found) => socket.on("open", found)),
    send: (text) => socket.send(text),
    close: () => socket.close(1000),
  };
}

function overPipes([program, ...words], hear) {
  const server = spawn(program, words, { stdio: ["pipe", "pipe", "inherit"] });
  createInterface(server.stdout).on("line", hear);
  server.on("error", fail);
  server.on("exit", (status) => status && fail(new Error(`the server ended with ${status}`)));
  return {
    opened: Promise.resolve(),
    send: (text) => server.stdin.write(`${text}\n`),
    close: () => server.stdin.end(),
  };
}

class Talk {
  constructor(connect) {
    this.calls = new Map();
    this.waiting = new Set();
    this.id = 0;
    this.asked = [];
    this.started = new Set();
    this.server = connect((text) => this.hear(JSON.parse(text)));
  }

  hear(message) {
    if (message.method === undefined) {
      this.calls.get(message.id)?.(message.error ?? message.result);
      this.calls.delete(message.id);
    } else if (message.id !== undefined) {
      this.asked.push(message.method);
      this.send({ id: message.id, result: { decision: this.decision } });
    }
    if (message.method === "thread/started") {
      this.started.add(message.params.thread.id);
    }
    for (const wanted of this.waiting) {
      if (message.method === wanted.method) {
        this.waiting.delete(wanted);
        wanted.found(message.params);
      }
    }
  }

  send(message) {
    this.server.send(JSON.stringify(message));
  }

  call(method, params) {
    const id = ++this.id;
    this.send({ id, method, params });
    return new Promise((found) => this.calls.set(id, found));
  }

  until(method) {
    return new Promise((found) => this.waiting.add({ method, found }));
  }

  async begin(approvalPolicy, sandbox = "read-only") {
    await this.server.opened;
    // The last of what the server says by itself then: it would cross what comes next, or not.
    const greeted = this.until("remoteControl/status/changed");
    await this.call("initialize", { clientInfo: { name: "lab", title: "lab", version: "1" } });
    await greeted;
    this.send({ method: "initialized" });
    const { thread } = await this.call("thread/start", { cwd: work, approvalPolicy, sandbox });
    this.thread = thread.id;
    // The server says it of the threads of other clients too.
    while (!this.started.has(thread.id)) {
      await this.until("thread/started");
    }
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
    // Where it must not write, the server sometimes sees why a command has failed, and runs it once more outside.
    await this.begin("untrusted", "workspace-write");
    // What a command says comes by itself only if it is said a while behind its start, and before its end.
    const args = { cmd: `touch ${work}/made && sleep 1 && echo 42 && sleep 1` };
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
    return talk.turn("[[stub:delay=400]] [[stub:words=200]] Tell me a long story.", async (turnId) => {
      await spoken;
      await talk.call("turn/interrupt", { threadId: talk.thread, turnId });
    });
  },
};

function fail(error) {
  console.error(error.message ?? error);
  process.exit(1);
}

function connects(name, command) {
  if (command.length > 0) {
    return (hear) => overPipes(command.map((word) => word.replaceAll("{name}", name)), hear);
  }
  const base = process.env.RETAPE_URL.replace(/^http/, "ws");
  return (hear) => overWebSocket(`${base}/codex/${name}/-`, hear);
}

async function main() {
  const words = process.argv.slice(2);
  const end = words.includes("--") ? words.indexOf("--") : words.length;
  for (const name of words.slice(0, end)) {
    const connect = connects(name, words.slice(end + 1));
    const talks = (name === "two" ? [1, 2] : [1]).map(() => new Talk(connect));
    const heard = await Promise.all(talks.map((talk) => (scenarios[name] ?? scenarios.plain)(talk)));
    console.log(name, JSON.stringify(heard));
    talks.forEach((talk) => talk.server.close());
  }
}

main().catch(fail);
setTimeout(() => fail(new Error("no end within a minute")), 60000).unref();
