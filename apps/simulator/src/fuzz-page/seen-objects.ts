import { getControllerOf } from "@kubewright/api";
import type { Stored, Violation } from "@kubewright/simulation";

/** An object that somebody has told of. */
export interface SeenObject {
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

/** More objects than that are not what a violation is about. */
const MOST_CONCERNED = 200;
/** What is written all the time, and is about other objects. */
const BACKGROUND: ReadonlySet<string> = new Set(["events", "events.events.k8s.io", "leases.coordination.k8s.io"]);

/** All objects of a run, by UID and by the name that they have or had last. */
export class SeenObjects {
  readonly #byUid = new Map<string, SeenObject>();
  readonly #byName = new Map<string, SeenObject>();

  see(resource: string, object: Stored): SeenObject {
    const { uid = "", namespace, name = "", ownerReferences = [] } = object.metadata;
    const owners = ownerReferences.map((reference) => reference.uid);
    const controller = getControllerOf(object)?.uid;
    let seen = this.#byUid.get(uid);
    if (seen === undefined) {
      const key = namespace === undefined ? name : `${namespace}/${name}`;
      seen = { uid, name: `${object.kind ?? resource} ${key}`, resource, key, owners, controller };
      this.#byUid.set(uid, seen);
      this.#byName.set(`${resource} ${key}`, seen);
    } else Object.assign(seen, { owners, controller });
    return seen;
  }

  withUid(uid: string): SeenObject | undefined {
    return this.#byUid.get(uid);
  }

  /** @param key - `default/pi` */
  named(resource: string, key: string): SeenObject | undefined {
    return this.#byName.get(`${resource} ${key}`);
  }

  /**
   * Those that a violation is about: what it names, whatever owns that or is owned by it, and what its controller owns
   * besides. All, but for what is written all the time, where it names none.
   */
  concerned({ subject, message }: Violation): ReadonlySet<SeenObject> {
    const all = [...this.#byUid.values()];
    const named = all.filter(({ name }) => name === subject);
    if (subject === "leaders") named.push(...all.filter(({ resource }) => resource.startsWith("leases")));
    if (named.length === 0) return new Set(all.filter(({ resource }) => !BACKGROUND.has(resource)));
    const found = new Set(named);
    const words = new Set(message.split(/[\s,;:()]+/));
    for (const seen of all) if (words.has(seen.key) && message.includes(seen.name)) found.add(seen);
    const owned = new Map<string, SeenObject[]>();
    for (const seen of all)
      for (const owner of seen.owners) {
        const siblings = owned.get(owner);
        if (siblings === undefined) owned.set(owner, [seen]);
        else siblings.push(seen);
      }
    const add = (seen: SeenObject): boolean =>
      found.size < MOST_CONCERNED && !found.has(seen) && found.add(seen) !== null;
    const withOwned = (from: readonly SeenObject[]): void => {
      const left = [...from];
      for (let next = left.shift(); next !== undefined; next = left.shift())
        for (const dependent of owned.get(next.uid) ?? []) if (add(dependent)) left.push(dependent);
    };
    const withOwners = (from: readonly SeenObject[]): void => {
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
