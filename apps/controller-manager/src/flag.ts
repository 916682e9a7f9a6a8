import type { FlagType } from "./flag-types.js";

/** A flag, and the option that it sets. Groups and order are those of the help. */
export interface Flag {
  readonly group: string;
  readonly name: string;
  /** Name of the field in the options. */
  readonly option: string;
  readonly type: FlagType<unknown>;
  readonly help: string;
}

/** Name, type and help of the flag for each field of an options type. */
export type FlagTable<Options extends object> = {
  readonly [Name in keyof Options]-?: readonly [name: string, type: FlagType<Options[Name]>, help: string];
};

/** Creates the flags of an options type. The type requires a flag for every field, of the field's type. */
export function flagGroup<Options extends object>(group: string, table: FlagTable<Options>): readonly Flag[] {
  return Object.entries(table as Readonly<Record<string, readonly [string, FlagType<unknown>, string]>>).map(
    ([option, [name, type, help]]) => ({ group, name, option, type, help }),
  );
}
