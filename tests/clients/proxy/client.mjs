// Asks both servers with `fetch` and the OpenAI SDK. Nothing here knows of retape.

import OpenAI from "openai";

const [agent, model] = process.argv.slice(2);
for (const url of [`${agent}/v1/agents`, `${model}/v1/models`]) {
  console.log("fetch", JSON.stringify(await (await fetch(url)).json()));
}
const client = new OpenAI({ baseURL: `${model}/v1`, apiKey: "none" });
const messages = [{ role: "user", content: "hi" }];
const stream = await client.chat.completions.create({ model: "small", messages, stream: true });
for await (const chunk of stream) console.log("openai", chunk.choices[0].delta.content);
