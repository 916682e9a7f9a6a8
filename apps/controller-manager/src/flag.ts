import type { FlagType } from "./flag-types.js";

/** An option, and the flag that sets it. Groups and order are those of the help. */
export interface Flag<T = unknown> {
  readonly group: string;
  readonly name: string;
  /** Name of the field in the options. */
  readonly option: string;
  readonly type: FlagType<T>;
  readonly defaultValue: T;
  readonly help: string;
}

/** An option of a group. */
export interface Option<T> extends Pick<Flag<T>, "type" | "defaultValue" | "help"> {
  readonly name: string | undefined;
}

/** @param name - Name of the flag. Default: that of the option in kebab case, without `Ms`. */
export function option<T>(type: FlagType<T>, defaultValue: NoInfer<T>, help: string, name?: string): Option<T> {
  return { type, defaultValue, help, name };
}

type FlagTable<Options> = { readonly [Name in keyof Options]: Flag<Options[Name]> };

/** The type of the options that a table of flags sets. */
export type OptionsOf<Table> = { readonly [Name in keyof Table]: Table[Name] extends Flag<infer T> ? T : never };

/** Creates the flags of a group by the names of the options. */
export function optionGroup<Options extends object>(
  group: string,
  options: { readonly [Name in keyof Options]: Option<Options[Name]> },
): FlagTable<Options> {
  const flags = Object.entries<Option<unknown>>(options as Readonly<Record<string, Option<unknown>>>).map(
    ([name, { name: flag = flagName(name), ...of }]) => [name, { ...of, group, name: flag, option: name }],
  );
  return Object.fromEntries(flags) as FlagTable<Options>;
}

/** Returns the default of each option. */
export function defaultsOf<Table extends object>(flags: Table): OptionsOf<Table> {
  const defaults = Object.values<Flag>(flags as Readonly<Record<string, Flag>>).map((flag) => [
    flag.option,
    flag.defaultValue,
  ]);
  return Object.fromEntries(defaults) as OptionsOf<Table>;
}

/** `kubeApiQps` → `kube-api-qps`, `minResyncPeriodMs` → `min-resync-period`. */
function flagName(option: string): string {
  return option.replace(/Ms$/, "").replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
