import { preset } from "../../tooling/tsup-preset.ts";

// Entries share chunks.
export default preset({ entry: ["src/index.ts", "src/browser/index.ts", "src/entries/*.ts"], splitting: true });
