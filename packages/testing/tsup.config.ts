import { preset } from "../../tooling/tsup-preset.ts";

// What is only asked for against another process is loaded then.
export default preset({ entry: ["src/index.ts", "src/vitest.ts", "src/processes/index.ts"], splitting: true });
