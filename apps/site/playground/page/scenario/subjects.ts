import { parseAllDocuments } from "yaml";

import type { Subject } from "./scenario-text.ts";

/** Maximum number of subjects in a form. */
export const MAX_SUBJECTS = 20;

/** Returns the CronJobs and Jobs of a text, in order. Unparseable documents are skipped. */
export function subjectsIn(text: string): Subject[] {
  const found: Subject[] = [];
  for (const document of parseAllDocuments(text, { prettyErrors: false, logLevel: "silent" })) {
    if (!("toJS" in document)) continue;
    try {
      visit(document.toJS({ maxAliasCount: 100 }), found);
    } catch {
      // Unresolved aliases.
    }
    if (found.length >= MAX_SUBJECTS) break;
  }
  return found.slice(0, MAX_SUBJECTS);
}

function visit(value: unknown, found: Subject[]): void {
  if (typeof value !== "object" || value === null) return;
  const { kind, metadata, items, manifests } = value as Record<string, unknown>;
  for (const list of [items, manifests]) if (Array.isArray(list)) for (const item of list) visit(item, found);
  if (kind !== "CronJob" && kind !== "Job") return;
  const { name, namespace } = (metadata ?? {}) as Record<string, unknown>;
  if (typeof name !== "string" || name === "") return;
  found.push({ kind, namespace: typeof namespace === "string" ? namespace : "default", name });
}
