import type { Outputs } from "@kubewright/analysis/ports";
import type { Style } from "@kubewright/analysis/text";

import type { Io } from "../io/io.js";

/** Collects the values of an option that may be repeated. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** Flags, description, and the default value, or `collect` for an option that may be repeated. */
export type Option = readonly [flags: string, description: string, initial?: string | typeof collect];

/** Options that `--help-all` prints under a title. */
export interface OptionGroup {
  readonly title: string;
  readonly options: readonly Option[];
}

/** A command of `kubewright`. */
export interface Command<Flags> {
  /** Syntax and description. */
  readonly argument?: readonly [string, string];
  /** In the order of the help. */
  readonly options: readonly Option[];
  /** Options that only `--help-all` prints. Default: none. */
  readonly moreOptions?: readonly OptionGroup[];
  /** Printed after the options. */
  readonly help: string;
  /** @throws UserError for wrong usage and input. */
  readonly run: (context: CommandContext<Flags>) => Promise<CommandResult | void>;
}

/** What a command is run with. */
export interface CommandContext<Flags> {
  readonly args: readonly string[];
  readonly flags: Flags;
  readonly io: Io;
  /** The shell closes these, and keeps existing files if the command reports problems or throws. */
  readonly outputs: Outputs;
  /** How text for standard output is formatted. */
  readonly format: { readonly style: Style; readonly width: number };
  /** Prints lines about the input on standard error. */
  readonly note: (...lines: readonly string[]) => void;
}

export interface CommandResult {
  /** Printed on standard output, unless an output file is standard output. */
  readonly text?: string;
  /** Mistakes, one line each. Existing files are kept, and the status is 2. */
  readonly problems?: readonly string[];
  /** What was left out because the user stopped the command. The status is 130. */
  readonly interrupted?: string | undefined;
  /** Findings, one line each. The status is 1, or that of `--fail-exit`. */
  readonly findings?: readonly string[];
}
