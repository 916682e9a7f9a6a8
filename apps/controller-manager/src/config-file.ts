import { type Document, LineCounter, type Node, isMap, isScalar, parseDocument } from "yaml";

import type { Flag } from "./flag.js";
import { UsageError } from "./flag-values.js";
import { FLAGS } from "./flags.js";
import { ignoredFlags } from "./ignored-flags.js";

export interface ConfigFile {
  /** Values by option name. */
  readonly values: ReadonlyMap<string, unknown>;
  /** Names of known flags without effect. */
  readonly ignored: readonly string[];
}

/**
 * Parses a configuration file: a YAML mapping whose keys are flag names.
 *
 * @throws UsageError with a one-line message that contains the file, the line and the key.
 */
export function parseConfigFile(path: string, content: string): ConfigFile {
  const lines = new LineCounter();
  const document = parseDocument(content, { lineCounter: lines });
  const lineOf = (node: Node | null | undefined): number => lines.linePos(node?.range?.[0] ?? 0).line;
  const fail = (line: number, problem: string): never => {
    throw new UsageError(`${path}:${line}: ${problem}`);
  };
  const [broken] = document.errors;
  if (broken !== undefined) {
    fail(lines.linePos(broken.pos[0]).line, broken.message.split("\n", 1)[0]!.replace(/ at line \d+.*$/, ""));
  }
  const { contents } = document;
  const values = new Map<string, unknown>();
  const ignored: string[] = [];
  if (contents === null || (isScalar(contents) && contents.value === null)) return { values, ignored };
  if (!isMap(contents)) return fail(lineOf(contents), "it must be a mapping of flag names to values");
  for (const { key, value } of contents.items) {
    const line = lineOf(key);
    const name = String(isScalar(key) ? key.value : key).replaceAll("_", "-");
    const flag = FLAGS.find((known) => known.name === name);
    if (flag !== undefined) values.set(flag.option, valueOf(flag, value, { document, line, fail }));
    else if (ignoredFlags.some((known) => known.name === name)) ignored.push(name);
    else fail(line, `unknown key ${JSON.stringify(name)}`);
  }
  return { values, ignored };
}

interface KeyLocation {
  readonly document: Document;
  readonly line: number;
  readonly fail: (line: number, problem: string) => never;
}

function valueOf({ name, type }: Flag, node: Node | null, { document, line, fail }: KeyLocation): unknown {
  let given: unknown;
  try {
    // Fails for an alias without anchor, or one that expands to too much.
    given = node?.toJS(document);
    const value = type.fromYaml(name, given);
    if (value !== undefined) return value;
  } catch (error) {
    fail(line, `${name}: ${(error as Error).message}`);
  }
  return fail(line, `${name}: it must be ${type.expected}, not ${JSON.stringify(given)}`);
}
