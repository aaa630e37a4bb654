import { retape } from "./vitest.mjs";

retape();
