import { preset } from "../../tooling/tsup-preset.ts";

// The two entries share how YAML is read, in a chunk.
export default preset({ entry: ["src/index.ts", "src/yaml/index.ts"], splitting: true });
