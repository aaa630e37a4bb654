/** What is done with requests. */
export type Mode = "replay" | "once" | "new_episodes" | "record" | "passthrough";

/** Settings for the tests of a file. */
export interface Options {
  /** The name of the cassette, or what makes it of the names of the test. The parts of a list are made to fit files. */
  cassette?: string | ((test: { file: string; names: string[] }) => string | string[]);
  /** The folder of cassettes; `RETAPE_CASSETTES`, else `cassettes`. */
  folder?: string;
  /** `RETAPE_MODE` without it; else `replay` where `CI` is set, and `once` elsewhere. */
  mode?: Mode;
  /** The live server of clients that have `tape.url` as their base address; `RETAPE_UPSTREAM` without it. */
  upstream?: string;
  /** Whether a test fails if something recorded was not asked for, or if it connects to a server past retape. */
  strict?: boolean;
  /** Hosts that may be reached past retape: expressions, or the sources of such. */
  allowedHosts?: (string | RegExp)[];
}

/** A recorded request and its answer. Bodies are Base64. */
export interface Interaction {
  method: string;
  url: string;
  headers: [string, string][];
  body: string;
  played: boolean;
  response: { status: number; headers: [string, string][]; body: string } | null;
}

/** A test as its runner knows it. */
export interface Test {
  file: string;
  names: string[];
  rerun: string;
  /** What tells it from a test that runs at the same time, which is refused; `end` is given the same. */
  test?: unknown;
}

/** The cassettes of the tests of a file, one after the other. */
export class Tapes {
  constructor(options?: Options);
  /** The base address for clients that are not led by themselves. It leads to the test that is running, or to
   *  the hooks around it. */
  readonly url: string;
  /** The recorded requests and answers of the test that is running. */
  interactions(): Promise<Interaction[]>;
  /** For other test runners: begins the hooks of a file, before all others. */
  beginHooks(hooks: { file: string; rerun: string }): Promise<void>;
  /** For other test runners: ends them, behind all others, and throws what was missed. */
  endHooks(): Promise<void>;
  /** For other test runners: begins a test. */
  begin(test: Test): Promise<void>;
  /** For other test runners: ends it, and throws what was missed. */
  end(how: { passed: boolean; test?: unknown }): Promise<void>;
}

/** The path of the retape binary. */
export function binary(): string;
