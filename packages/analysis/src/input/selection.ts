import { matchesName } from "@kubewright/simulation";

/** Selects CronJobs, and Jobs without a CronJob. In both fields `*` matches any characters. */
export interface Selection {
  readonly namespace: string;
  readonly name: string;
}

export const EVERYTHING: Selection = { namespace: "*", name: "*" };

/** Compares by value, because a selection may come from another thread. */
export function isEverything({ namespace, name }: Selection): boolean {
  return namespace === EVERYTHING.namespace && name === EVERYTHING.name;
}

/** Parses `report`, in any namespace, or `billing/*`. Returns `undefined` for other texts. */
export function parseSelection(text: string): Selection | undefined {
  const match = /^(?:([^/\s]+)\/)?([^/\s]+)$/.exec(text);
  return match === null ? undefined : { namespace: match[1] ?? "*", name: match[2]! };
}

export function isSelectedBy(selection: Selection, { namespace, name }: Selection): boolean {
  return matchesName(selection.namespace, namespace) && matchesName(selection.name, name);
}
