import type { Flag } from "./flag.js";
import { type ControllerManagerOptions, OPTIONS } from "./options.js";

/** Every flag that sets an option, in the order of the help. */
export const FLAGS: readonly Flag[] = Object.values(OPTIONS);

/** Every flag with its effective value, sorted by name and formatted as in the help. */
export function flagValues(options: ControllerManagerOptions): (readonly [name: string, value: string])[] {
  const values: Readonly<Record<string, unknown>> = options;
  return FLAGS.map(({ name, option, type }) => [name, type.format(values[option])] as const).sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
}
