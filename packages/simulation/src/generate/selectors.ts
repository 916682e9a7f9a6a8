import type { UnstructuredObject } from "@kubewright/api";

/** Labels that several Jobs select. */
export const SHARED_LABELS = { group: "overlapping" } as const;

/** Reports whether a Job has a manual selector. */
export function isManual({ spec }: UnstructuredObject): boolean {
  return (spec as { readonly manualSelector?: boolean } | undefined)?.manualSelector === true;
}
