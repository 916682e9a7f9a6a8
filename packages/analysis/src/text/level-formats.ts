import type { LevelName } from "../futures/levels.js";
import { coresText, memoryText } from "./requests-text.js";

/** How tables show a level. */
export interface LevelFormat {
  readonly level: LevelName;
  readonly title: string;
  readonly short: "pods" | "cores" | "memory";
  readonly show: (value: number) => string;
}

/** In the order of the tables. */
export const LEVEL_FORMATS: readonly LevelFormat[] = [
  { level: "pods", title: "pods", short: "pods", show: (value) => value.toLocaleString("en-US") },
  { level: "cpuMillis", title: "cores requested", short: "cores", show: coresText },
  { level: "memoryBytes", title: "memory requested", short: "memory", show: memoryText },
];
