import type { UserInfo } from "../authorization/authorizer.js";
import type { ResourceTarget, Verb } from "../route.js";
import type { ServerState } from "../server-state.js";

/** A write, whoever asks for it and however. */
export interface Write {
  readonly server: ServerState;
  readonly target: ResourceTarget;
  readonly verb: Verb;
  readonly user: UserInfo;
  /** Texts for `Warning` headers, in order, without duplicates. */
  readonly warnings: string[];
  /** Bytes that were made anew of what was sent, roughly: what a version that it becomes adds to the one before. */
  newBytes: number;
}

export function warn({ warnings }: Pick<Write, "warnings">, texts: readonly string[]): void {
  if (texts.length === 0) return;
  const told = new Set(warnings);
  for (const text of texts) {
    if (told.has(text)) continue;
    told.add(text);
    warnings.push(text);
  }
}
