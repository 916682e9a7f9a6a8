import { preset } from "../../tooling/tsup-preset.ts";

// The two entries share most of their code in one chunk.
export default preset({ entry: ["src/index.ts", "src/client-node.ts"], splitting: true });
