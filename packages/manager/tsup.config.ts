import { preset } from "../../tooling/tsup-preset.ts";

// The entries share the code that chooses controllers.
export default preset({ entry: ["src/index.ts", "src/kubernetes/index.ts"], splitting: true });
