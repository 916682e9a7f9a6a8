import { preset } from "../../tooling/tsup-preset.ts";

export default preset({ entry: ["src/index.ts", "src/validation/index.ts"] });
