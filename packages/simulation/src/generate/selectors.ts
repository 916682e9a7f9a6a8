import type { UnstructuredObject } from "@kubewright/api";

/** What Jobs select that select the same pods. */
export const SHARED_LABELS = { group: "overlapping" } as const;

/** Whether users have said what a Job selects. */
export function isManual({ spec }: UnstructuredObject): boolean {
  return (spec as { readonly manualSelector?: boolean } | undefined)?.manualSelector === true;
}
