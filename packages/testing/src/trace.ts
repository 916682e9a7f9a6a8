import { type DeepReadonly, type Event, type KubernetesObject, type ResourceDefinition, events } from "@kubewright/api";
import type { Client } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";

import { changesOf } from "./changes.js";
import { type RequestRecord, isWrite, requestText } from "./request-record.js";

export interface TraceOptions {
  /** Kinds of the traced objects. Default: those of the test's `crds`. */
  readonly objects?: readonly ResourceDefinition[];
  /** Controllers whose writes are traced. Default: all controllers of the test. */
  readonly requestsOf?: readonly string[];
  /** Whether events of the traced objects are included. Default true. */
  readonly events?: boolean;
}

type FullOptions = TraceOptions & Required<Pick<TraceOptions, "objects">>;

interface Line {
  readonly atMs: number;
  /** A function, because the response of a request is not known when it is sent. */
  readonly text: () => string;
}

/** Maximum number of lines. The trace ends with the number of further lines. */
const MAX_LINES = 20_000;
const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g;

/**
 * Changes of objects and writes of controllers as text, to compare with a golden file. Generated names, UIDs and times
 * are replaced by placeholders, and resource versions are omitted. Only the decisions of controllers are therefore
 * compared.
 */
export class Trace {
  readonly #clock: Clock;
  readonly #startMs: number;
  readonly #options: FullOptions;
  readonly #lines: Line[] = [];
  readonly #known = new Map<string, DeepReadonly<KubernetesObject>>();
  readonly #aliases = new Map<string, string>();
  readonly #generated = new Map<string, number>();
  #droppedLines = 0;

  constructor(clock: Clock, options: FullOptions) {
    this.#clock = clock;
    this.#startMs = clock.now();
    this.#options = options;
  }

  /** Watches the objects until the signal aborts. Resolves when the watches are open. */
  async follow(client: Client, signal: AbortSignal): Promise<void> {
    const { objects, events: withEvents = true } = this.#options;
    const followed = withEvents ? [...objects, events as ResourceDefinition] : objects;
    for (const definition of followed) {
      const { metadata, items } = await client.resource(definition).list();
      for (const item of items) this.#remember(definition, item);
      const watch = client.resource(definition).watch({ resourceVersion: metadata.resourceVersion ?? "", signal });
      void this.#read(definition, await watch, signal);
    }
  }

  request(record: RequestRecord): void {
    const { requestsOf } = this.#options;
    if (!isWrite(record) || (requestsOf !== undefined && !requestsOf.includes(record.by))) return;
    this.#add(() => `${record.by} sends ${requestText(record)}: ${record.code ?? "no answer"}`);
  }

  /** Returns the trace so far, one line per entry. */
  text(): string {
    const lines = this.#lines.map(({ atMs, text }) => `${this.#after(atMs).padEnd(9)} ${this.#withAliases(text())}`);
    if (this.#droppedLines > 0) lines.push(`and ${this.#droppedLines} lines more`);
    return `${lines.join("\n")}\n`;
  }

  toString(): string {
    return this.text();
  }

  async #read(
    definition: ResourceDefinition,
    watch: AsyncIterable<{ readonly type: string; readonly object: unknown }>,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      for await (const { type, object } of watch) this.#event(definition, type, object as KubernetesObject);
    } catch (error) {
      if (!signal.aborted) this.#add(() => `the trace of ${definition.resource} ends: ${String(error)}`);
    }
    if (!signal.aborted) this.#add(() => `the trace of ${definition.resource} ends: its watch has ended`);
  }

  #event(definition: ResourceDefinition, type: string, object: DeepReadonly<KubernetesObject>): void {
    if (type !== "ADDED" && type !== "MODIFIED" && type !== "DELETED") return;
    const { uid = "" } = object.metadata;
    const before = this.#known.get(uid);
    this.#remember(definition, object);
    if (definition.resource === "events") {
      if (type !== "DELETED") this.#addEvent(object as unknown as DeepReadonly<Event>);
      return;
    }
    const name = nameOf(definition, object);
    if (type === "DELETED") {
      this.#known.delete(uid);
      this.#add(() => `${name} is gone`);
    } else if (before === undefined) {
      const owners = (object.metadata.ownerReferences ?? []).map((owner) => `${owner.kind} ${owner.name}`);
      this.#add(() => `${name} exists${owners.length === 0 ? "" : `, owned by ${owners.join(", ")}`}`);
    } else {
      const changes = changesOf(before, object);
      if (changes.length > 0) this.#add(() => `${name}: ${changes.join(", ")}`);
    }
  }

  #addEvent({ type = "", reason = "", message = "", involvedObject, count, series }: DeepReadonly<Event>): void {
    const { kind, namespace, name = "" } = involvedObject;
    if (!this.#options.objects.some((definition) => definition.kind === kind)) return;
    const object = `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
    const times = series?.count ?? count ?? 1;
    this.#add(() => `${object} has event ${type} ${reason}: ${message}${times > 1 ? ` (${times} times)` : ""}`);
  }

  #remember(definition: ResourceDefinition, object: DeepReadonly<KubernetesObject>): void {
    const { uid = "", name = "", generateName } = object.metadata;
    this.#known.set(uid, object);
    if (generateName !== undefined && !this.#aliases.has(name)) {
      const count = (this.#generated.get(generateName) ?? 0) + 1;
      this.#generated.set(generateName, count);
      this.#aliases.set(name, `${generateName}<${count}>`);
    }
    this.#aliases.set(uid, `<uid of ${definition.kind} ${this.#aliases.get(name) ?? name}>`);
  }

  #add(text: () => string): void {
    if (this.#lines.length >= MAX_LINES) this.#droppedLines++;
    else this.#lines.push({ atMs: this.#clock.now(), text });
  }

  #withAliases(text: string): string {
    let aliased = text
      .replace(UID, (uid) => this.#aliases.get(uid) ?? "<uid>")
      .replace(TIME, (time) => `<${this.#after(Date.parse(time))}>`);
    for (const [name, alias] of this.#aliases)
      if (!alias.startsWith("<uid of")) aliased = replaceName(aliased, name, alias);
    return aliased;
  }

  /** Returns the whole seconds since the start: `+90s`. */
  #after(atMs: number): string {
    const seconds = Math.floor((atMs - this.#startMs) / 1000);
    return `${seconds < 0 ? "" : "+"}${seconds}s`;
  }
}

function nameOf({ kind }: ResourceDefinition, { metadata }: DeepReadonly<KubernetesObject>): string {
  const { namespace, name = "" } = metadata;
  return `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
}

function replaceName(text: string, name: string, alias: string): string {
  return name === "" || !text.includes(name) ? text : text.split(name).join(alias);
}
