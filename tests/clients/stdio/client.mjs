// Conversations of the official TypeScript SDK with three MCP servers, over standard input and output, or over HTTP.
//   client.mjs SCENARIO... -- COMMAND...
//   client.mjs SCENARIO...                 RETAPE_URL: where the cassettes are played
// In COMMAND, {name} stands for the scenario. It prints what the SDK said. WORK is a folder of the servers' own.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

// The SDK stands where npm has put it, as NODE_PATH says.
const modules = createRequire(join(process.env.NODE_PATH, "none.js"));
const sdk = (path) => import(pathToFileURL(modules.resolve(`@modelcontextprotocol/sdk/${path}`)));
const { Client } = await sdk("client/index.js");
const { StdioClientTransport } = await sdk("client/stdio.js");
const { StreamableHTTPClientTransport } = await sdk("client/streamableHttp.js");
const types = await sdk("types.js");

const work = process.env.WORK;

const scenarios = {
  // Lists, calls, progress, what the server asks of the client, logs, subscriptions, mistakes.
  async everything(client, note) {
    note(await client.listTools(), await client.listPrompts(), await client.listResources());
    const call = async (name, args = {}, options = {}) =>
      note(await client.callTool({ name, arguments: args }, undefined, options));
    await call("echo", { message: `hello ${crypto.randomUUID()}` });
    // Over HTTP each has an answer of its own, and which is first is chance.
    const sum = (b) => client.callTool({ name: "get-sum", arguments: { a: 40, b } });
    note(...(await Promise.all([1, 2, 3].map(sum))));
    const onprogress = (progress) => note(progress);
    await call("trigger-long-running-operation", { duration: 1, steps: 3 }, { onprogress });
    await call("trigger-sampling-request", { prompt: "Sum up", maxTokens: 20 });
    await call("trigger-elicitation-request");
    await call("get-roots-list");
    await call("get-tiny-image");
    await call("no-such-tool");
    note(await client.getPrompt({ name: "simple-prompt" }));
    await client.setLoggingLevel("debug");
    await client.ping();
    // The server goes on. Its next step is further away than the end of the client, which waits 2 s for the server.
    const left = new AbortController();
    const abandoned = client.callTool(
      { name: "trigger-long-running-operation", arguments: { duration: 20, steps: 4 } },
      undefined,
      { signal: left.signal, onprogress: () => left.abort("enough") },
    );
    await abandoned.catch((error) => note(String(error)));
    await call("echo", { message: "still here" });
  },
  async filesystem(client, note) {
    const call = async (name, args) => note(await client.callTool({ name, arguments: args }));
    const file = join(work, "note.txt");
    note(await client.listTools());
    await call("list_allowed_directories", {});
    await call("write_file", { path: file, content: "first\nsecond\n" });
    await call("edit_file", { path: file, edits: [{ oldText: "first", newText: "1st" }] });
    await call("read_text_file", { path: file });
    await call("list_directory", { path: work });
    await call("read_text_file", { path: join(work, "none.txt") });
    await call("read_text_file", { path: "/etc/hostname" });
  },
  async memory(client, note) {
    const call = async (name, args) => note(await client.callTool({ name, arguments: args }));
    note(await client.listTools());
    const entities = [
      { name: "Ada", entityType: "person", observations: ["writes programs"] },
      { name: "Engine", entityType: "machine", observations: ["has no screen"] },
    ];
    await call("create_entities", { entities });
    await call("create_relations", { relations: [{ from: "Ada", to: "Engine", relationType: "programs" }] });
    await call("search_nodes", { query: "programs" });
    await call("delete_entities", { entityNames: ["Ada", "Engine"] });
    await call("read_graph", {});
  },
};

// These ask for the roots when they have been greeted: that would cross the first request, or not.
const askForRoots = ["everything", "filesystem"];

async function connected(name, transport) {
  const capabilities = { sampling: {}, elicitation: {}, roots: { listChanged: true } };
  const client = new Client({ name: "conversations", version: "1.0.0" }, { capabilities });
  client.setRequestHandler(types.CreateMessageRequestSchema, () => ({
    role: "assistant",
    model: "a-small-model",
    content: { type: "text", text: "in short" },
  }));
  client.setRequestHandler(types.ElicitRequestSchema, () => ({ action: "decline" }));
  const asked = new Promise((found) =>
    client.setRequestHandler(types.ListRootsRequestSchema, () => {
      // Behind the answer.
      setImmediate(found);
      return { roots: [{ uri: pathToFileURL(work).href, name: "work" }] };
    }),
  );
  await client.connect(transport);
  if (askForRoots.includes(name)) {
    await asked;
  }
  return client;
}

const words = process.argv.slice(2);
const end = words.includes("--") ? words.indexOf("--") : words.length;
for (const name of words.slice(0, end)) {
  const [command, ...args] = words.slice(end + 1).map((word) => word.replaceAll("{name}", name));
  const transport =
    command === undefined
      ? new StreamableHTTPClientTransport(new URL(`${process.env.RETAPE_URL}/mcp-stdio/${name}/-/mcp`))
      : new StdioClientTransport({ command, args, stderr: "inherit" });
  const client = await connected(name, transport);
  const said = [client.getServerVersion(), client.getServerCapabilities()];
  await scenarios[name](client, (...what) => said.push(...what));
  await client.close();
  console.log(`${name} ${said.length} ${JSON.stringify(said).replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID")}`);
}
