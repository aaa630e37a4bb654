// What the SDK said in one scenario, call by call.

import { APIError } from "@letta-ai/letta-client";

export class Transcript {
  #client;
  #swapped;
  #minted = {};
  #steps = [];

  constructor(client, swapped) {
    this.#client = client;
    this.#swapped = swapped;
  }

  // Notes a value that this run made up, so that it can be told from the server's own.
  mint(kind, value) {
    (this.#minted[kind] ??= []).push(value);
    return value;
  }

  async call(path, ...options) {
    const step = this.#begin(path);
    const answer = await this.#method(path)(...options);
    step.said.push(value(answer));
    return answer;
  }

  // Reads a stream, or all pages of a list, to its end; a function at the end is called for each item.
  async each(path, ...options) {
    const step = this.#begin(path);
    const meanwhile = typeof options.at(-1) === "function" ? options.pop() : () => {};
    for await (const item of await this.#method(path)(...options)) {
      step.said.push(value(item));
      await meanwhile(item);
    }
    return step.said;
  }

  async refused(call) {
    const refusal = await call().then(
      () => undefined,
      (error) => error,
    );
    const step = this.#steps.at(-1);
    if (refusal === undefined) {
      throw new Error(`${step.call} was not refused`);
    }
    if (!(refusal instanceof APIError)) {
      throw refusal;
    }
    step.refused = told(refusal);
  }

  // Does both, the second one first if the order is swapped; they are told in this order.
  async eitherWay(first, then) {
    if (!this.#swapped) {
      await first();
      await then();
      return;
    }
    const before = this.#steps;
    this.#steps = [];
    await then();
    const steps = this.#steps;
    this.#steps = before;
    await first();
    this.#steps.push(...steps);
  }

  toJSON() {
    return { minted: this.#minted, steps: this.#steps };
  }

  #begin(path) {
    const step = { call: path, said: [] };
    this.#steps.push(step);
    return step;
  }

  #method(path) {
    const names = path.split(".");
    const owner = names.slice(0, -1).reduce((part, name) => part[name], this.#client);
    return owner[names.at(-1)].bind(owner);
  }
}

function told(refusal) {
  return {
    class: refusal.constructor.name,
    status: refusal.status ?? null,
    message: refusal.message,
    body: refusal.error,
  };
}

// The SDK hands out plain objects, except for pages.
function value(answer) {
  return Array.isArray(answer.items)
    ? { [answer.constructor.name]: { items: answer.items } }
    : answer;
}
