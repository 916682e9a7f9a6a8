import { preset } from "../../tooling/tsup-preset.ts";

// The entries share the custom resource code, in chunks.
export default preset({
  entry: ["src/index.ts", "src/manifests/index.ts", "src/webhooks/index.ts", "src/zod/index.ts", "src/cli/main.ts"],
  splitting: true,
});
