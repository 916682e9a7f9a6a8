import { preset } from "../../tooling/tsup-preset.ts";

export default preset();
