import type { FlagType } from "./flag-types.js";

/** A flag, and the option it sets. Groups and order are the help's. */
export interface Flag {
  readonly group: string;
  readonly name: string;
  /** Member of the options. */
  readonly option: string;
  readonly type: FlagType<unknown>;
  readonly help: string;
}

/** Name, type and help of the flag for every member of some options. */
export type FlagTable<Options extends object> = {
  readonly [Name in keyof Options]-?: readonly [name: string, type: FlagType<Options[Name]>, help: string];
};

/** The flags of a group of options. None can be forgotten, and none can have a type its option has not. */
export function flagGroup<Options extends object>(group: string, table: FlagTable<Options>): readonly Flag[] {
  return Object.entries(table as Readonly<Record<string, readonly [string, FlagType<unknown>, string]>>).map(
    ([option, [name, type, help]]) => ({ group, name, option, type, help }),
  );
}
