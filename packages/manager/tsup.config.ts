import { preset } from "../../tooling/tsup-preset.ts";

// The entries share the code that chooses controllers and that leads.
export default preset({ entry: ["src/index.ts", "src/kubernetes/index.ts", "src/sharded/index.ts"], splitting: true });
