import { preset } from "../../tooling/tsup-preset.ts";

// The entries share what a custom resource is, in chunks.
export default preset({
  entry: ["src/index.ts", "src/manifests/index.ts", "src/webhooks/index.ts", "src/cli/main.ts"],
  splitting: true,
});
