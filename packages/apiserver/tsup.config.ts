import { preset } from "../../tooling/tsup-preset.ts";

// The entries share how YAML is read and what an error is, in chunks.
export default preset({ entry: ["src/index.ts", "src/http/index.ts", "src/yaml/index.ts"], splitting: true });
