import { type Document, type Node, type YAMLMap, isMap, isSeq, parseDocument } from "yaml";

import type { ScenarioEvent } from "./scenario-event.ts";

export type PlainField = "start" | "for" | "seed" | "timeZone";

/** A CronJob, or a standalone Job. */
export interface Subject {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** The duration of a subject's containers, as written in the scenario, and the share of failing runs, in percent. */
export interface Workload {
  readonly duration: string;
  readonly failsPercent: string;
}

const HEAD = { apiVersion: "sim.kubewright.dev/v1", kind: "Scenario" };

/**
 * The text of a scenario, edited by forms and by hand. Edits by forms preserve unknown fields and comments. Every edit
 * returns a new text.
 */
export class ScenarioText {
  readonly #text: string;
  readonly #value: unknown;
  /** Whether forms can show and change the scenario. */
  readonly isParseable: boolean;

  constructor(text: string) {
    this.#text = text;
    const document = parseDocument(text, { prettyErrors: false, logLevel: "silent" });
    const value = valueOf(document);
    this.#value = value;
    this.isParseable = value === null || (typeof value === "object" && isMap(document.contents));
  }

  field(name: PlainField): string {
    const value = this.#get([name]);
    return typeof value === "string" || typeof value === "number" ? String(value) : "";
  }

  /** @param value - Empty for the default of `kubewright run`. */
  withField(name: PlainField, value: string): string {
    return this.#edited((document) => {
      if (value === "") document.delete(name);
      else document.set(name, name === "seed" ? Number(value) : value);
    });
  }

  get events(): readonly ScenarioEvent[] {
    const list = this.#get(["events"]);
    if (!Array.isArray(list)) return [];
    return list.map((item: unknown) => {
      const { at = "", for: lasting = "", ...rest } = (item ?? {}) as Record<string, unknown>;
      const [[kind, value] = ["", undefined]] = Object.entries(rest);
      return { at: asText(at), for: asText(lasting), kind, value };
    });
  }

  /** @param index - Index of the event to replace. An index after the last event appends one. */
  withScenarioEvent(index: number, scenarioEvent: ScenarioEvent): string {
    return this.#edited((document) => {
      const { at, for: lasting, kind, value } = scenarioEvent;
      const list = listAt(document, "events");
      const written = { at, ...(lasting === "" ? {} : { for: lasting }), [kind]: value };
      const existing = list.items[index];
      if (!isMap(existing)) {
        list.items.splice(index, 1, flowInside(document.createNode(written)));
        return;
      }
      for (const name of existing.items.map(({ key }) => String(key))) if (!(name in written)) existing.delete(name);
      for (const [name, wanted] of Object.entries(written))
        if (JSON.stringify(plain(document, existing.get(name, true))) !== JSON.stringify(wanted))
          existing.set(name, inFlow(document.createNode(wanted)));
    });
  }

  withoutScenarioEvent(index: number): string {
    return this.#edited((document) => {
      const list = listAt(document, "events");
      list.items.splice(index, 1);
      if (list.items.length === 0) document.delete("events");
    });
  }

  workload(subject: Subject): Workload {
    const entry = this.#workloads()[this.#indexOf(subject)] ?? {};
    return { duration: asText(entry["duration"] ?? ""), failsPercent: percentOf(entry["exitCode"]) };
  }

  /** Returns the workload from less specific entries, which applies without an entry for the subject. */
  inherited({ kind, namespace, name }: Subject): Workload {
    let [duration, failsPercent] = ["", ""];
    for (const entry of this.#workloads()) {
      const { select, container, indexes, attempts } = entry;
      if ([container, indexes, attempts].some((value) => value !== undefined)) continue;
      const wanted = Object.entries((select ?? {}) as Record<string, unknown>);
      const subject: Record<string, unknown> = { kind, namespace, name };
      if (!wanted.every(([key, value]) => subject[key] === value)) continue;
      if (entry["duration"] !== undefined) duration = asText(entry["duration"]);
      if (entry["exitCode"] !== undefined) failsPercent = percentOf(entry["exitCode"]);
    }
    return { duration, failsPercent };
  }

  withWorkload(subject: Subject, { duration, failsPercent }: Workload): string {
    return this.#edited((document) => {
      const index = this.#indexOf(subject);
      const list = listAt(document, "workloads");
      const exitCode = exitCodeOf(failsPercent);
      const { kind, namespace, name } = subject;
      let entry = list.items[index];
      if (!isMap(entry)) {
        const select = { kind, ...(namespace === "default" ? {} : { namespace }), name };
        entry = flowInside(document.createNode({ select }));
        list.items.push(entry);
      }
      const map = entry as YAMLMap;
      const before = this.workload(subject);
      if (duration === "") map.delete("duration");
      else if (duration !== before.duration) map.set("duration", duration);
      if (exitCode === undefined) map.delete("exitCode");
      else if (failsPercent !== before.failsPercent) map.set("exitCode", inFlow(document.createNode(exitCode)));
      if (map.items.length === 1) list.items.splice(list.items.indexOf(map), 1);
      if (list.items.length === 0) document.delete("workloads");
    });
  }

  /** Whether the scenario sets only the window, the seed and the time zone, which flags can set too. */
  get isPlain(): boolean {
    const value = this.#get([]);
    if (value === null || value === undefined) return true;
    return (
      this.isParseable &&
      Object.keys(value).every((key) => ["apiVersion", "kind", "start", "for", "seed", "timeZone"].includes(key))
    );
  }

  #get(path: readonly string[]): unknown {
    if (!this.isParseable) return undefined;
    let value = this.#value;
    for (const step of path) value = (value as Record<string, unknown> | null | undefined)?.[step];
    return value;
  }

  #workloads(): readonly Record<string, unknown>[] {
    const list = this.#get(["workloads"]);
    return Array.isArray(list) ? list.map((item: unknown) => (item ?? {}) as Record<string, unknown>) : [];
  }

  /** Returns the index of the entry for all containers of exactly this subject; -1 when it does not exist. */
  #indexOf({ kind, namespace, name }: Subject): number {
    return this.#workloads().findIndex((entry) => {
      const { select, container, indexes, attempts } = entry;
      if (typeof select !== "object" || select === null) return false;
      const { labels, ...wanted } = select as Record<string, unknown>;
      return (
        [container, indexes, attempts, labels].every((value) => value === undefined) &&
        wanted["kind"] === kind &&
        wanted["name"] === name &&
        (wanted["namespace"] ?? "default") === namespace
      );
    });
  }

  #edited(edit: (document: Document) => void): string {
    if (!this.isParseable) return this.#text;
    const document = parseDocument(this.#text, { prettyErrors: false });
    if (!isMap(document.contents))
      document.contents = document.createNode({ ...HEAD }) as unknown as typeof document.contents;
    for (const [key, value] of Object.entries(HEAD)) if (!document.has(key)) document.set(key, value);
    edit(document);
    const map = document.contents as unknown as YAMLMap;
    const isBare = map.items.every(({ key }) => String(key) in HEAD) && !this.#text.includes("#");
    return isBare ? "" : document.toString({ lineWidth: 120, flowCollectionPadding: true });
  }
}

/** Returns `undefined` for invalid YAML, and for unresolved or too many aliases. */
function valueOf(document: Document.Parsed): unknown {
  if (document.errors.length > 0) return undefined;
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    return undefined;
  }
}

function listAt(document: Document, name: string): { items: unknown[] } {
  const list = document.get(name, true);
  if (isSeq(list)) return list;
  const made = document.createNode([]);
  document.set(name, made);
  return made;
}

function plain(document: Document, node: unknown): unknown {
  return node === undefined ? undefined : (node as Node).toJS(document);
}

/** Formats a node in one line. */
function inFlow<T>(node: T): T {
  if (isMap(node) || isSeq(node)) node.flow = true;
  return node;
}

/** Formats each member of a map in one line. */
function flowInside<T>(node: T): T {
  if (isMap(node)) for (const { value } of node.items) inFlow(value);
  return node;
}

function asText(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function percentOf(exitCode: unknown): string {
  if (exitCode === undefined || exitCode === null) return "";
  if (typeof exitCode !== "object") return Number(exitCode) === 0 ? "0" : "100";
  const shares = Object.entries(exitCode as Record<string, unknown>);
  const all = shares.reduce((sum, [, share]) => sum + Number(share), 0);
  const failing = shares.reduce((sum, [code, share]) => (Number(code) === 0 ? sum : sum + Number(share)), 0);
  return all > 0 ? String(Math.round((failing / all) * 10_000) / 100) : "";
}

function exitCodeOf(percent: string): unknown {
  const value = Math.min(100, Number(percent));
  if (percent === "" || !(value >= 0)) return undefined;
  if (value === 0) return 0;
  if (value === 100) return 1;
  const share = Math.round(value * 100) / 10_000;
  return new Map([
    [0, Math.round((1 - share) * 10_000) / 10_000],
    [1, share],
  ]);
}
