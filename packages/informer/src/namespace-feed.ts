import {
  type DeepReadonly,
  type KubernetesObject,
  type List,
  compareResourceVersions,
  namespaceShard,
} from "@kubewright/api";
import { type Reader, ShardReader } from "@kubewright/client";
import type { Clock, Random, Timer } from "@kubewright/clock";

import { Backoff } from "./backoff.js";
import { Deadline } from "./deadline.js";
import { errorReport } from "./error-report.js";
import { InformerError } from "./informer-error.js";
import { InterestReader } from "./interest-reader.js";
import { type Listed, type PageQuery, listPages } from "./list-pages.js";
import { metadataOf, resourceVersionOf } from "./object-metadata.js";
import { Reflector, type ReflectorTarget } from "./reflector.js";
import type { Transform } from "./transform.js";

export interface NamespaceFeedOptions<T extends KubernetesObject> {
  /** Of a namespaced resource. */
  readonly client: Reader<T>;
  readonly clock: Clock;
  readonly random: Random;
  readonly transform?: Transform<T> | undefined;
  /** Told how many objects of other namespaces came along, which a server that knows shards leaves out. Default: nobody is. */
  readonly onForeign?: ((count: number) => void) | undefined;
  /** Told about every failure; the feed goes on after all of them. Default: standard error, the same once a minute. */
  readonly onError?: ((error: InformerError) => void) | undefined;
}

/** A namespace from being wanted to being told of. */
interface Tenant<T extends KubernetesObject> {
  readonly target: ReflectorTarget<T>;
  /** `wanted`: it has to be listed. `prepared`: it was, and is held back. `active`: its target has it all. */
  state: "wanted" | "prepared" | "active";
  objects: DeepReadonly<T>[];
  /** Of the list: events that are not newer say nothing new. */
  version: string;
  /** What came since it is wanted. */
  events: { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: DeepReadonly<T> }[];
}

/** So many namespaces are listed one by one, which servers do by index; more in one list of everything. */
const LISTED_ONE_BY_ONE = 32;
const LISTS_AT_ONCE = 4;
const PAGE_SIZE = 500;
const LIST_TIMEOUT_MS = 30_000;
/** A watch that tells of what nobody wants any more goes on this long, as more may go. */
const NARROWED_AFTER_MS = 10_000;

/**
 * One watch of a resource for many caches, each of namespaces of its own that come and go while it runs. Whoever takes a namespace
 * over from another process has all that this had done: a namespace is listed after it was wanted, as new as the server's store
 * is then, and by a watch that was open before.
 *
 * A namespace is told of in two steps, {@link prepare} and {@link activate}, so that several resources of it can come at once:
 * whoever saw the owners and not yet what they own would make it again.
 */
export class NamespaceFeed<T extends KubernetesObject> {
  readonly #options: NamespaceFeedOptions<T>;
  readonly #onError: (error: InformerError) => void;
  readonly #reader: InterestReader<T>;
  readonly #reflector: Reflector<T>;
  readonly #backoff: Backoff;
  readonly #tenants = new Map<string, Tenant<T>>();
  /** Those that were told of all they have, be it nothing. */
  readonly #told = new Set<ReflectorTarget<T>>();
  #generation = 0;
  #isFilling = false;
  #signal: AbortSignal | undefined;
  #waiting: (() => void)[] = [];
  #narrowing: Timer | undefined;

  constructor(options: NamespaceFeedOptions<T>) {
    this.#options = options;
    const { client, clock, random, transform, onForeign } = options;
    this.#onError = errorReport(clock, options.onError);
    this.#backoff = new Backoff(options);
    this.#reader = new InterestReader({
      client,
      interest: {
        listed: () => this.#names((tenant) => tenant.state === "active"),
        watched: () => this.#tenants.keys(),
      },
      onRelist: () => this.#beginAnew(),
      onForeignObjects: onForeign,
      onError: (error) => this.#report(error),
    });
    this.#reflector = new Reflector({
      client: this.#reader,
      clock,
      random,
      transform,
      startsConsistent: true,
      watchList: false,
      target: this.#target(),
      onError: this.#onError,
    });
  }

  /** Monotonic milliseconds when the server last answered or sent something; `undefined` before it did. */
  get lastContactMs(): number | undefined {
    return this.#reflector.lastContactMs;
  }

  /** Lists and watches until `signal` aborts, then resolves. Once. */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    const release = (): void => {
      this.#reader.release();
      this.#tell();
    };
    signal.addEventListener("abort", release, { once: true });
    this.#fill();
    await this.#reflector.run(signal);
    this.#narrowing?.cancel();
    release();
  }

  /**
   * Has namespaces listed that a target is to be told of, and holds them back. Resolves when they are here, or not wanted any
   * more. What comes meanwhile may undo it, which {@link isPrepared} tells: then this is to be called again.
   *
   * @throws Error when a namespace is another target's; the reason of the signal, or of {@link run}'s.
   */
  async prepare(target: ReflectorTarget<T>, namespaces: readonly string[], signal: AbortSignal): Promise<void> {
    for (const namespace of namespaces) {
      const known = this.#tenants.get(namespace);
      if (known !== undefined && known.target !== target)
        throw new Error(`namespace ${namespace} is told of already, to somebody else`);
      if (known === undefined)
        this.#tenants.set(namespace, { target, state: "wanted", objects: [], version: "", events: [] });
    }
    this.#fill();
    signal.addEventListener("abort", this.#tell, { once: true });
    try {
      while (!this.#signal?.aborted && namespaces.some((name) => this.#tenants.get(name)?.state === "wanted")) {
        signal.throwIfAborted();
        await new Promise<void>((resolve) => this.#waiting.push(resolve));
      }
      signal.throwIfAborted();
      // Nothing is listed any more, so nothing would be prepared however often this is called again.
      this.#signal?.throwIfAborted();
    } finally {
      signal.removeEventListener("abort", this.#tell);
    }
  }

  /** Whether all of them are here. */
  isPrepared(namespaces: readonly string[]): boolean {
    return namespaces.every((namespace) => (this.#tenants.get(namespace)?.state ?? "wanted") !== "wanted");
  }

  /** Tells the target of namespaces that are prepared, and from now on of all that happens there. */
  activate(target: ReflectorTarget<T>, namespaces: readonly string[]): void {
    const tenants = namespaces.map((name) => this.#tenants.get(name)!).filter(({ state }) => state === "prepared");
    const objects = tenants.flatMap((tenant) => tenant.objects);
    if (!this.#told.has(target)) {
      this.#told.add(target);
      target.replace(objects, this.#reflector.lastSyncResourceVersion);
    } else {
      for (const object of objects) this.#guarded(() => target.apply("ADDED", object));
    }
    for (const tenant of tenants) {
      tenant.state = "active";
      tenant.objects = [];
      for (const { type, object } of tenant.events.splice(0)) this.#pass(tenant, type, object);
    }
  }

  /** Tells a target of nothing any more. */
  leave(target: ReflectorTarget<T>): void {
    this.#told.delete(target);
    this.forget([...this.#tenants].filter(([, tenant]) => tenant.target === target).map(([namespace]) => namespace));
  }

  /** Tells nobody of these namespaces any more. What targets know of them stays until the next list of everything. */
  forget(namespaces: readonly string[]): void {
    for (const namespace of namespaces) this.#tenants.delete(namespace);
    this.#narrowing ??= this.#options.clock.setTimer(NARROWED_AFTER_MS, () => this.#narrow(), { background: true });
    this.#tell();
  }

  #narrow(): void {
    this.#narrowing = undefined;
    this.#reader.renew();
  }

  #target(): ReflectorTarget<T> {
    return {
      replace: (objects, resourceVersion) => {
        const parts = new Map<ReflectorTarget<T>, DeepReadonly<T>[]>();
        for (const target of this.#told) parts.set(target, []);
        for (const object of objects) {
          const tenant = this.#tenants.get(metadataOf(object).namespace ?? "");
          if (tenant?.state === "active") parts.get(tenant.target)?.push(object);
        }
        for (const [target, part] of parts) this.#guarded(() => target.replace(part, resourceVersion));
      },
      apply: (type, object) => {
        const tenant = this.#tenants.get(metadataOf(object).namespace ?? "");
        if (tenant?.state === "active") this.#pass(tenant, type, object);
        else tenant?.events.push({ type, object });
      },
      bookmark: (resourceVersion) => {
        for (const target of this.#told) target.bookmark(resourceVersion);
      },
      resync: () => {},
    };
  }

  #pass({ target, version }: Tenant<T>, type: "ADDED" | "MODIFIED" | "DELETED", object: DeepReadonly<T>): void {
    if ((compareResourceVersions(resourceVersionOf(object), version) ?? 1) <= 0) return;
    this.#guarded(() => target.apply(type, object));
  }

  /** What was not told by the watch so far never will be: what is held back has to be listed again, after it goes on. */
  #beginAnew(): void {
    this.#generation++;
    for (const tenant of this.#tenants.values()) {
      tenant.events.length = 0;
      if (tenant.state !== "active") tenant.state = "wanted";
      // What is active is listed now, by the reflector, and may be older than before, as after a restored backup.
      tenant.version = "";
    }
    this.#fill();
  }

  /** Lists what is wanted, as long as there is any. */
  #fill(): void {
    const signal = this.#signal;
    if (this.#isFilling || signal === undefined) return;
    this.#isFilling = true;
    void this.#fillAll(signal);
  }

  async #fillAll(signal: AbortSignal): Promise<void> {
    const allWanted = (): readonly string[] => this.#names((tenant) => tenant.state === "wanted");
    while (!signal.aborted && allWanted().length > 0) {
      // Those who want something at the same time are served at once.
      await this.#options.clock.yieldToEventLoop();
      await this.#reader.covers(allWanted, signal);
      const generation = this.#generation;
      const wanted = allWanted();
      const asked = new Map(wanted.map((name) => [name, this.#tenants.get(name)]));
      try {
        for (const { namespaces, objects, version } of await this.#lists(wanted, signal)) {
          if (generation !== this.#generation) break;
          for (const namespace of namespaces) this.#prepared(asked.get(namespace), namespace, version);
          for (const object of objects) this.#hold(object);
        }
      } catch (error) {
        if (!signal.aborted) this.#report(error);
        await this.#options.clock.sleep(this.#backoff.next(), signal, { background: true }).catch(() => undefined);
      }
      this.#tell();
    }
    this.#isFilling = false;
  }

  #prepared(asked: Tenant<T> | undefined, namespace: string, version: string): void {
    const tenant = this.#tenants.get(namespace);
    // Given up meanwhile, and perhaps wanted again: of that one it is not known whether it was watched.
    if (tenant === undefined || tenant !== asked || tenant.state !== "wanted") return;
    tenant.state = "prepared";
    tenant.version = version;
    tenant.objects = [];
  }

  #hold(object: DeepReadonly<T>): void {
    const tenant = this.#tenants.get(metadataOf(object).namespace ?? "");
    if (tenant?.state === "prepared") tenant.objects.push(object);
  }

  async #lists(namespaces: readonly string[], signal: AbortSignal) {
    const { client, onForeign } = this.#options;
    if (namespaces.length > LISTED_ONE_BY_ONE) {
      const onError = (error: Error): void => this.#report(error);
      const shard = new ShardReader(client, namespaceShard(namespaces), { onForeignObjects: onForeign, onError });
      const { objects, resourceVersion } = await this.#list(shard, undefined, signal);
      return [{ namespaces, objects, version: resourceVersion }];
    }
    const lists: { namespaces: readonly string[]; objects: readonly DeepReadonly<T>[]; version: string }[] = [];
    const left = [...namespaces];
    const work = async (): Promise<void> => {
      for (let namespace = left.pop(); namespace !== undefined; namespace = left.pop()) {
        const { objects, resourceVersion } = await this.#list(client, namespace, signal);
        lists.push({ namespaces: [namespace], objects, version: resourceVersion });
      }
    };
    await Promise.all(Array.from({ length: LISTS_AT_ONCE }, work));
    return lists;
  }

  /** Without a resourceVersion: as new as the store. */
  async #list(reader: Reader<T>, namespace: string | undefined, signal: AbortSignal): Promise<Listed<T>> {
    const { transform, clock } = this.#options;
    const deadline = new Deadline(clock, signal, LIST_TIMEOUT_MS);
    const page = { namespace, signal: deadline.signal, mapItem: transform };
    const listPage = (query: PageQuery) =>
      reader.list({ ...page, ...query }) as unknown as Promise<List<DeepReadonly<T>>>;
    try {
      return await listPages<T>(listPage, { limit: PAGE_SIZE });
    } finally {
      deadline.release();
    }
  }

  #names(fits: (tenant: Tenant<T>) => boolean): readonly string[] {
    return [...this.#tenants].filter(([, tenant]) => fits(tenant)).map(([name]) => name);
  }

  readonly #tell = (): void => {
    for (const resolve of this.#waiting.splice(0)) resolve();
  };

  #guarded(tell: () => void): void {
    try {
      tell();
    } catch (error) {
      this.#report(error);
    }
  }

  #report(error: unknown): void {
    const { resource } = this.#options.client.definition;
    this.#onError(new InformerError("list", `failed to read ${resource} of some namespaces`, error));
  }
}
