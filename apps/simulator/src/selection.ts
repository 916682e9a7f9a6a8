import { matchesName } from "@kubewright/simulation";

/** Which CronJobs, and Jobs of their own, something is about. In both, `*` stands for any characters. */
export interface Selection {
  readonly namespace: string;
  readonly name: string;
}

export const EVERYTHING: Selection = { namespace: "*", name: "*" };

/** Also of one that another thread has sent. */
export function isEverything({ namespace, name }: Selection): boolean {
  return namespace === EVERYTHING.namespace && name === EVERYTHING.name;
}

/** Reads `report`, of whatever namespace, or `billing/*`; `undefined` for what is neither. */
export function parseSelection(text: string): Selection | undefined {
  const match = /^(?:([^/\s]+)\/)?([^/\s]+)$/.exec(text);
  return match === null ? undefined : { namespace: match[1] ?? "*", name: match[2]! };
}

export function isSelectedBy(selection: Selection, { namespace, name }: Selection): boolean {
  return matchesName(selection.namespace, namespace) && matchesName(selection.name, name);
}
