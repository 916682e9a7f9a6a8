import { qualifiedNameErrors } from "@kubewright/api/validation";

import type { UserInfo } from "../authorization/authorizer.js";
import type { ResourceTarget, Verb } from "../route.js";
import type { ServerState } from "../server-state.js";

/** A write, independent of its endpoint. */
export interface Write {
  readonly server: ServerState;
  readonly target: ResourceTarget;
  readonly verb: Verb;
  readonly user: UserInfo;
  /** Texts for `Warning` headers, in order, without duplicates. */
  readonly warnings: string[];
  /** Annotations for the request's audit record. Absent when no audit listener is registered. */
  readonly annotations?: Map<string, string> | undefined;
  /** Approximate bytes allocated for the request's object: the additional memory of the version that it becomes. */
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
 * Adds an annotation to the request's audit record. The first value of a key is final. Ignores a key that is no
 * qualified name with a domain, such as `example.com/why`. Upstream: `attributesRecord.AddAnnotation`.
 */
export function annotate({ annotations }: Pick<Write, "annotations">, key: string, value: string): void {
  if (annotations === undefined || annotations.has(key)) return;
  if (key.includes("/") && qualifiedNameErrors(key).length === 0) annotations.set(key, value);
}
