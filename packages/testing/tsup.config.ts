import { preset } from "../../tooling/tsup-preset.ts";

// Splitting, so that modules for other processes are loaded on demand.
export default preset({ entry: ["src/index.ts", "src/vitest.ts", "src/processes/index.ts"], splitting: true });
