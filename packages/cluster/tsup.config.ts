import { preset } from "../../tooling/tsup-preset.ts";

// The entries share classes, in chunks.
export default preset({ entry: ["src/index.ts", "src/kubelet/index.ts", "src/scheduler/index.ts"], splitting: true });
