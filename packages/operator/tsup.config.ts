import { preset } from "../../tooling/tsup-preset.ts";

// The entries share what a custom resource is, in chunks.
export default preset({ entry: ["src/index.ts", "src/webhooks/index.ts"], splitting: true });
