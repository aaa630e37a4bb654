import type { Options, Tapes } from "./index.js";

export type { Interaction, Mode, Options, Tapes } from "./index.js";

/** Gives each test of this file, or of this `describe`, a cassette of its own. */
export function retape(options?: Options): Tapes;
