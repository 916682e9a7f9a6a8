import { getControllerOf } from "@kubewright/api";
import type { Stored, InvariantViolation } from "@kubewright/simulation";

/** An object of a recorded run. */
export interface RunObject {
  readonly uid: string;
  /** `Job default/pi` */
  readonly name: string;
  /** `jobs.batch` */
  readonly resource: string;
  /** `default/pi` */
  readonly key: string;
  owners: readonly string[];
  controller: string | undefined;
}

/** Maximum number of concerned objects. */
const MAX_CONCERNED = 200;
/** Resources that are written continuously and describe other objects. */
const BACKGROUND: ReadonlySet<string> = new Set(["events", "events.events.k8s.io", "leases.coordination.k8s.io"]);

/** All objects of a run, by UID and by their last name. */
export class RunObjects {
  readonly #byUid = new Map<string, RunObject>();
  readonly #byName = new Map<string, RunObject>();

  add(resource: string, object: Stored): RunObject {
    const { uid = "", namespace, name = "", ownerReferences = [] } = object.metadata;
    const owners = ownerReferences.map((reference) => reference.uid);
    const controller = getControllerOf(object)?.uid;
    let known = this.#byUid.get(uid);
    if (known === undefined) {
      const key = namespace === undefined ? name : `${namespace}/${name}`;
      known = { uid, name: `${object.kind ?? resource} ${key}`, resource, key, owners, controller };
      this.#byUid.set(uid, known);
      this.#byName.set(`${resource} ${key}`, known);
    } else Object.assign(known, { owners, controller });
    return known;
  }

  withUid(uid: string): RunObject | undefined {
    return this.#byUid.get(uid);
  }

  /** @param key - `default/pi` */
  named(resource: string, key: string): RunObject | undefined {
    return this.#byName.get(`${resource} ${key}`);
  }

  /**
   * Returns the objects that a violation concerns: the named objects, their owners and dependents, and the other
   * objects of their controllers. When it names none, all objects except background resources.
   */
  concerned({ subject, message }: InvariantViolation): ReadonlySet<RunObject> {
    const all = [...this.#byUid.values()];
    const named = all.filter(({ name }) => name === subject);
    if (subject === "leaders") named.push(...all.filter(({ resource }) => resource.startsWith("leases")));
    if (named.length === 0) return new Set(all.filter(({ resource }) => !BACKGROUND.has(resource)));
    const found = new Set(named);
    const words = new Set(message.split(/[\s,;:()]+/));
    for (const object of all) if (words.has(object.key) && message.includes(object.name)) found.add(object);
    const owned = new Map<string, RunObject[]>();
    for (const object of all)
      for (const owner of object.owners) {
        const siblings = owned.get(owner);
        if (siblings === undefined) owned.set(owner, [object]);
        else siblings.push(object);
      }
    const add = (object: RunObject): boolean =>
      found.size < MAX_CONCERNED && !found.has(object) && found.add(object) !== null;
    const withOwned = (from: readonly RunObject[]): void => {
      const left = [...from];
      for (let next = left.shift(); next !== undefined; next = left.shift())
        for (const dependent of owned.get(next.uid) ?? []) if (add(dependent)) left.push(dependent);
    };
    const withOwners = (from: readonly RunObject[]): void => {
      const left = [...from];
      for (let next = left.pop(); next !== undefined; next = left.pop())
        for (const uid of next.owners) {
          const owner = this.#byUid.get(uid);
          if (owner !== undefined && add(owner)) left.push(owner);
        }
    };
    withOwners(named);
    withOwned(named);
    for (const { controller } of named) for (const sibling of owned.get(controller ?? "") ?? []) add(sibling);
    return found;
  }
}

export function isBackground(resource: string): boolean {
  return BACKGROUND.has(resource);
}
