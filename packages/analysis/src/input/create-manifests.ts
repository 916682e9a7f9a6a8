import { type ResourceDefinition, type UnstructuredObject, namespaces } from "@kubewright/api";
import type { YamlPath } from "@kubewright/apiserver/yaml";
import { type Client, StatusError, isAlreadyExists } from "@kubewright/client";

import type { Clock } from "@kubewright/clock";
import { suggestTimeZone } from "@kubewright/cron";
import { Discovery, suggestion } from "@kubewright/simulation";

import { consequenceOf } from "../run/not-simulated.js";
import { firstFew } from "./first-few.js";
import { type InputProblem, problemKindOf } from "./input-problem.js";
import { fieldProblems, unknownFields } from "./field-problems.js";

import { KnownFields } from "./known-fields.js";
import { type Manifest, objectName } from "./manifest.js";
import { isTemplate } from "./read-document.js";
import { countKinds, kindProblem } from "./unknown-kind.js";

export interface CreateOptions {
  /** How to handle unknown fields: `strict` refuses the object, `warn` adds a note. Default `strict`. */
  readonly validate?: "strict" | "warn";
  /**
   * Whether kinds that the cluster does not serve, or that have no controller, are mistakes instead of notes. Default
   * false.
   */
  readonly strict?: boolean;
  /**
   * Waits until the API server serves new resource definitions and enforces new quotas, an instant after their
   * creation.
   */
  readonly clock: Pick<Clock, "sleep">;
  /** Awaited before the first Job or Pod is created. */
  readonly beforeJobs: () => Promise<void>;
}

/** The results of the creation. */
export interface CreateOutcome {
  /** The message of a mistake is `file:line:column: kind namespace/name: field: what is wrong; the fix`. */
  readonly problems: readonly InputProblem[];
  readonly notes: readonly string[];
  /** The kind of each created object. */
  readonly created: readonly string[];
}

/**
 * Creates objects as `kubectl apply` would: unknown fields are mistakes, namespaces are created before their objects,
 * and resource definitions before their resources. Jobs and Pods are last. A refused object does not prevent the
 * creation of the others.
 */
export async function createManifests(
  client: Client,
  manifests: readonly Manifest[],
  { clock, beforeJobs, validate = "strict", strict = false }: CreateOptions,
): Promise<CreateOutcome> {
  const discovery = new Discovery(client);
  const fields = new KnownFields(client);
  const problems: InputProblem[] = [];
  const notes: string[] = [];
  const passedOver: string[] = [];
  const existingNamespaces = new Set(["default"]);
  const created: string[] = [];

  const report = ({ object }: Manifest, place: string, reason: string): void => {
    const name = objectName(object);
    const message = `${place}: ${name}: ${reason}`;
    problems.push({ kind: problemKindOf(object.kind), object: name, reason, message });
  };
  const create = async (manifest: Manifest, fieldValidation: "Strict" | "Ignore"): Promise<void> => {
    const { object } = manifest;
    const needsWebhook = isWebhook(object) || hasConversionWebhook(object);
    const definition = needsWebhook ? undefined : await discovery.find(object);
    if (definition === undefined) {
      const { apiVersion = "", kind = "" } = object;
      const problem = needsWebhook ? undefined : kindProblem({ apiVersion, kind }, await discovery.served());
      if (problem !== undefined) report(manifest, manifest.place(["apiVersion"]), problem);
      else if (strict && hasConversionWebhook(object))
        report(
          manifest,
          manifest.place(["spec", "conversion"]),
          "spec.conversion: no webhook is called in virtual time; leave it out where no object is converted",
        );
      else if (strict) report(manifest, manifest.place(["kind"]), `${apiVersion} is not simulated`);
      else passedOver.push(kind);
      return;
    }
    const hasNoController = consequenceOf(definition) !== undefined;
    if (hasNoController && strict) {
      report(manifest, manifest.place(["kind"]), "no controller here acts on it");
      return;
    }
    const namespace = object.metadata.namespace || "default";
    if (definition.namespaced && !existingNamespaces.has(namespace)) {
      const refused = await ensureNamespace(client, namespace);
      if (refused !== undefined) {
        const reason = `metadata.namespace: ${refused}${placeholderHint(namespace)}`;
        report(manifest, manifest.place(["metadata", "namespace"]), reason);
        return;
      }
      existingNamespaces.add(namespace);
    }
    try {
      const scope = definition.namespaced ? { namespace } : {};
      await client
        .resource(definition)
        .create(withoutServerFields(object), { ...scope, fieldManager: "kubewright", fieldValidation });
      if (definition.kind === "Namespace") existingNamespaces.add(object.metadata.name ?? "");
      (hasNoController ? passedOver : created).push(object.kind ?? "");
    } catch (error) {
      if (isAlreadyExists(error)) {
        if (!LIVE_GROUPS.has(definition.group)) return;
        return replace(manifest, definition);
      }
      if (!(error instanceof StatusError)) throw error;
      if (fieldValidation === "Strict" && validate === "warn" && unknownFields(error.message).length > 0) {
        notes.push(...linesOf(await refusalsIn(error, manifest, fields), manifest));
        return create(manifest, "Ignore");
      }
      await reportRefusals(error, manifest);
    }
  };
  const reportRefusals = async (error: StatusError, manifest: Manifest): Promise<void> => {
    const refusals = await refusalsIn(error, manifest, fields);
    const { object } = manifest;
    for (const [index, message] of linesOf(refusals, manifest).entries()) {
      const { reason } = refusals[index]!;
      problems.push({ kind: problemKindOf(object.kind), object: objectName(object), reason, message });
    }
  };
  /** Replaces an object of the exported cluster, because manifests have priority over it. */
  const replace = async (manifest: Manifest, definition: ResourceDefinition<UnstructuredObject>): Promise<void> => {
    const { object } = manifest;
    const { name = "", namespace = "default" } = object.metadata;
    try {
      const { metadata } = await client.resource(definition).get(name, { namespace });
      const { resourceVersion } = metadata;
      const next = { ...object, metadata: { ...object.metadata, resourceVersion } } as UnstructuredObject;
      await client
        .resource(definition)
        .update(next, { namespace, fieldManager: "kubewright", fieldValidation: "Strict" });
      created.push(object.kind ?? "");
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      await reportRefusals(error, manifest);
    }
  };
  let before = 0;
  for (const manifest of inOrder(manifests.filter((each) => !startsAtOnce(each)))) {
    const rank = rankOf(manifest);
    if (rank > before && before > 0) await clock.sleep(0);
    before = rank;
    await create(manifest, "Strict");
  }
  await beforeJobs();
  for (const manifest of manifests.filter(startsAtOnce)) await create(manifest, "Strict");
  if (passedOver.length > 0) notes.push(`ignored: ${countKinds(passedOver)} (not simulated)`);
  return { problems, notes, created };
}

/** Groups whose objects a live cluster may already have. Existing objects of other groups are part of every cluster. */
const LIVE_GROUPS: ReadonlySet<string> = new Set(["batch"]);

/** Kinds that must be created first, in order. They take effect an instant after their creation. */
const FIRST: readonly (readonly string[])[] = [
  ["Namespace"],
  ["CustomResourceDefinition"],
  ["LimitRange", "PriorityClass", "ResourceQuota", "StorageClass"],
];

/** Whether the object starts containers when it is created. */
function startsAtOnce({ object: { kind } }: Manifest): boolean {
  return kind === "Job" || kind === "Pod";
}

/** Virtual time calls no webhooks, because there is no server to call. */
function isWebhook({ apiVersion = "", kind = "" }: UnstructuredObject): boolean {
  return apiVersion.startsWith("admissionregistration.k8s.io/") && kind.endsWith("WebhookConfiguration");
}

/**
 * A resource definition with a conversion webhook: without the webhook, its objects cannot be converted between
 * versions.
 */
function hasConversionWebhook(object: UnstructuredObject): boolean {
  if (object.kind !== "CustomResourceDefinition") return false;
  const { conversion, versions } = (object["spec"] ?? {}) as {
    conversion?: { strategy?: string } | null;
    versions?: readonly unknown[] | null;
  };
  return conversion?.strategy === "Webhook" && (versions?.length ?? 0) > 1;
}

/**
 * Sorts manifests: namespaces, resource definitions, kinds that affect admission, the others; each in the order of the
 * text.
 */
function inOrder(manifests: readonly Manifest[]): Manifest[] {
  return [...manifests].sort((a, b) => rankOf(a) - rankOf(b));
}

function rankOf({ object: { kind } }: Manifest): number {
  const rank = FIRST.findIndex((kinds) => kinds.includes(kind ?? ""));
  return rank < 0 ? FIRST.length : rank;
}

/** Removes fields that only the server sets; exported objects have them. */
function withoutServerFields(object: UnstructuredObject): UnstructuredObject {
  const { uid: _uid, resourceVersion: _version, managedFields: _fields, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** A field that the API server refuses, with its place. */
interface Refusal {
  readonly place: string;
  readonly reason: string;
}

async function refusalsIn(error: StatusError, manifest: Manifest, fields: KnownFields): Promise<Refusal[]> {
  const found = new Map<string, Refusal>();
  for (const { path, field, atKey, message } of fieldProblems(error, manifest.object)) {
    const known = atKey ? await fields.at(manifest.object, path.slice(0, -1)) : [];
    const hint = known.length === 0 ? "" : `; ${suggestion(String(path.at(-1)), known)}`;
    const what = field === "" ? "" : `${field}: `;
    const value = valueAt(manifest.object, path);
    const filledIn = placeholderHint(typeof value === "string" ? value : message);
    const more = filledIn || (path.at(-1) === "timeZone" ? timeZoneHint(value) : "");
    const refusal = { place: manifest.place(path, { atKey }), reason: `${what}${message}${hint}${more}` };
    found.set(`${refusal.place}: ${refusal.reason}`, refusal);
  }
  return [...found.values()];
}

/** Returns one line for each refusal; of many, the first few and the number of the others. */
function linesOf(refusals: readonly Refusal[], { object }: Manifest): string[] {
  const name = objectName(object);
  const lines = refusals.map(({ place, reason }) => `${place}: ${name}: ${reason}`);
  return firstFew(lines, `more mistakes in ${name}`);
}

function timeZoneHint(value: unknown): string {
  const meant = typeof value === "string" ? suggestTimeZone(value) : undefined;
  return meant === undefined ? "" : `; did you mean ${JSON.stringify(meant)}?`;
}

function valueAt(object: unknown, path: YamlPath): unknown {
  let value = object;
  for (const step of path) value = (value as Record<string | number, unknown> | null | undefined)?.[step];
  return value;
}

/** Returns a hint for an unfilled placeholder. */
function placeholderHint(value: string): string {
  if (/\$\{\w+/.test(value)) return "; ${…} is a placeholder: fill it in first, as with envsubst";
  return isTemplate(value) ? "; {{ … }} is a template action: render it first" : "";
}

/** @returns the reason why the namespace cannot be created; `undefined` when it exists. */
async function ensureNamespace(client: Client, name: string): Promise<string | undefined> {
  const namespace = { metadata: { name } };
  try {
    await client.resource(namespaces).create(namespace);
  } catch (error) {
    if (isAlreadyExists(error)) return undefined;
    if (!(error instanceof StatusError)) throw error;
    return fieldProblems(error, namespace)[0]?.message;
  }
  return undefined;
}
