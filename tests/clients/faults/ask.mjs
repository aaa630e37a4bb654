// Asks a recorded server once through an official SDK, and prints what became of it as JSON.
//
// Usage: ask.mjs SDK URL CASSETTE INTERACTION

import { readFileSync } from "node:fs";

const [sdk, url, cassette, number] = process.argv.slice(2);
const { path, json: body } = JSON.parse(readFileSync(cassette, "utf8")).interactions[number - 1].request;

async function ask() {
  if (sdk === "openai") {
    const { OpenAI } = await import("openai");
    return new OpenAI({ baseURL: `${url}/v1`, apiKey: "none" }).chat.completions.create(body);
  }
  if (sdk === "anthropic") {
    const { Anthropic } = await import("@anthropic-ai/sdk");
    return new Anthropic({ baseURL: url, apiKey: "none" }).messages.create(body);
  }
  const { Letta } = await import("@letta-ai/letta-client");
  const [agent] = /agent-[0-9a-f-]+/.exec(path);
  return new Letta({ baseURL: url, apiKey: "none" }).agents.messages.stream(agent, body);
}

const events = [];
let error = null;
try {
  for await (const event of await ask()) events.push(event);
} catch (thrown) {
  error = thrown.constructor.name;
}
console.log(JSON.stringify({ events, error }));
