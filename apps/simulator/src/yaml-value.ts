import type { Document } from "yaml";

import { UserError } from "./user-error.js";

/** Uses of aliases after which a document counts as an attack. */
const MOST_ALIASES = 100;

/**
 * What a YAML document says, as plain data.
 *
 * @param place - `file:line` of the document.
 * @throws UserError for an alias without its anchor, for more aliases than anybody writes, and for a value that contains itself.
 */
export function yamlValue(document: Document, place: string): unknown {
  try {
    const value: unknown = document.toJS({ maxAliasCount: MOST_ALIASES });
    JSON.stringify(value);
    return value;
  } catch (error) {
    throw new UserError(`${place}: ${problem(error as Error)}`, { cause: error });
  }
}

function problem({ name, message }: Error): string {
  const unresolved = /^Unresolved alias .*: (.*)$/.exec(message)?.[1];
  if (unresolved !== undefined) return `there is no anchor &${unresolved} before the alias *${unresolved}`;
  if (message.startsWith("Excessive alias count")) return "its aliases unfold to too much; write the values out";
  return name === "RangeError" ? "is nested too deeply" : "an alias makes a value contain itself; write the value out";
}
