import type { Logger as PinoLogger } from "pino";

import { type LoggingOptions, createLogger, levelOf } from "./logging.js";

export interface LoggersOptions extends LoggingOptions {
  /** Items `pattern=N` of `--vmodule`: the verbosity of loggers whose name matches. `*` and `?` are wildcards. */
  readonly vmodule?: readonly string[];
  /** Whether lines contain the logger's name. Default true. */
  readonly named?: boolean;
}

/**
 * The loggers of one process. All have the same verbosity, which can be changed at run time, except those that
 * `vmodule` names.
 */
export class Loggers {
  readonly #root: PinoLogger;
  readonly #named = new Map<string, PinoLogger>();
  readonly #modules: readonly { readonly pattern: RegExp; readonly verbosity: number }[];
  readonly #showsNames: boolean;

  constructor({ vmodule = [], named = true, ...options }: LoggersOptions) {
    this.#root = createLogger(options);
    this.#showsNames = named;
    this.#modules = vmodule.map((item) => {
      const separator = item.lastIndexOf("=");
      return { pattern: patternOf(item.slice(0, separator)), verbosity: Number(item.slice(separator + 1)) };
    });
  }

  /** The logger of a component; without a name, of the process itself. */
  for(name?: string): PinoLogger {
    if (name === undefined) return this.#root;
    const known = this.#named.get(name);
    if (known !== undefined) return known;
    const made = this.#root.child(this.#showsNames ? { logger: name } : {});
    made.level = this.#ownLevel(name) ?? this.#root.level;
    this.#named.set(name, made);
    return made;
  }

  /** Sets the verbosity, as `-v` does. */
  set(verbosity: number): void {
    const level = levelOf(verbosity);
    this.#root.level = level;
    for (const [name, logger] of this.#named) logger.level = this.#ownLevel(name) ?? level;
  }

  #ownLevel(name: string): "debug" | "info" | undefined {
    const own = this.#modules.find(({ pattern }) => pattern.test(name));
    return own === undefined ? undefined : levelOf(own.verbosity);
  }
}

function patternOf(glob: string): RegExp {
  const escaped = glob.replaceAll(/[.+^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${escaped.replaceAll("*", ".*").replaceAll("?", ".")}$`);
}
