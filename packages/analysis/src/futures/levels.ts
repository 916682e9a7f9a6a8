/** The levels of pods and their requests. Units: pods, thousandths of a core, bytes. */
export const LEVEL_NAMES = ["pods", "cpuMillis", "memoryBytes"] as const;

export type LevelName = (typeof LEVEL_NAMES)[number];

/** A value for each level. */
export type PerLevel<T> = Readonly<Record<LevelName, T>>;

/** Creates a value for each level. */
export function perLevel<T>(create: (level: LevelName) => T): PerLevel<T> {
  return { pods: create("pods"), cpuMillis: create("cpuMillis"), memoryBytes: create("memoryBytes") };
}
