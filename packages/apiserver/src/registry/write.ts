import type { UserInfo } from "../authorization/authorizer.js";
import { qualifiedNameErrors } from "../names.js";
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
  /** What the request's audit record is to have, by key. Absent: nobody keeps one. */
  readonly annotations?: Map<string, string> | undefined;
  /** Bytes that were made anew of what was sent, roughly: what a version that it becomes adds to the one before. */
  newBytes: number;
}

export function warn({ warnings }: Pick<Write, "warnings">, texts: readonly string[]): void {
  if (texts.length === 0) return;
  const existing = new Set(warnings);
  for (const text of texts) {
    if (existing.has(text)) continue;
    existing.add(text);
    warnings.push(text);
  }
}

/**
 * Notes something in the request's audit record. The first value of a key stays; a key that is no qualified name with a domain,
 * as `example.com/why`, is left out. Upstream: `attributesRecord.AddAnnotation`.
 */
export function annotate({ annotations }: Pick<Write, "annotations">, key: string, value: string): void {
  if (annotations === undefined || annotations.has(key)) return;
  if (key.includes("/") && qualifiedNameErrors(key).length === 0) annotations.set(key, value);
}
