import type { UnstructuredObject } from "@kubewright/api";

import { type InputProblem, problemKindOf } from "./input-problem.js";
import { type Manifest, withStableVersion } from "./manifest.js";
import { type ProcessedTemplate, isOpenShiftTemplate, processTemplate } from "./openshift-template.js";
import { shellWord } from "./paths.js";
import { isTemplate, readDocument } from "./read-document.js";
import type { ReadDocument } from "./read-document.js";
import { splitDocuments } from "./split-documents.js";

/** The objects of a text. */
export interface ParsedManifests {
  readonly manifests: readonly Manifest[];
  /** One line for each mistake: `file:line:column: what is wrong; the fix`. */
  readonly problems: readonly string[];
  /** Mistakes in CronJobs and Jobs, which cannot be simulated, and in objects that no run needs. */
  readonly mistakes: readonly InputProblem[];
  /** One line for each oddity that kubectl accepts without a warning. */
  readonly warnings: readonly string[];
  /** One line for each document that another tool must fill in or decrypt first, with the command. */
  readonly templates: readonly string[];
  /** Number of documents that are not Kubernetes objects. */
  readonly passedOver: number;
}

export interface ParseOptions {
  /** Whether documents that are not Kubernetes objects are passed over instead of reported. Default false. */
  readonly passOverOthers?: boolean;
  /** Whether a program has printed the text, so that no command can read it again. Default false. */
  readonly isRendered?: boolean;
}

/**
 * Reads every object of a text with YAML or JSON documents. Lists are split into their items, and empty documents
 * skipped.
 */
export function parseManifests(
  text: string,
  file: string,
  { passOverOthers = false, isRendered = false }: ParseOptions = {},
): ParsedManifests {
  const manifests: Manifest[] = [];
  const problems: string[] = [];
  const mistakes: InputProblem[] = [];
  const warnings: string[] = [];
  const templates: string[] = [];
  let passedOver = 0;
  const addProblem = (message: string, kindName: string | undefined): void => {
    const kind = problemKindOf(kindName);
    if (kind === "mistake") return void problems.push(message);
    const [, place = file, reason = message] = /^(.*?:\d+(?::\d+)?(?: item \d+)?): (.*)$/s.exec(message) ?? [];
    mistakes.push({ kind, object: `${kindName} at ${place}`, reason, message });
  };
  for (const piece of splitDocuments(text)) {
    const document = readDocument(piece, file);
    if ("problem" in document) {
      if (passOverOthers && !mentionsObject(piece.text)) passedOver++;
      else addProblem(document.problem, kindIn(piece.text));
      continue;
    }
    const { value, source } = document;
    if (value === null) continue;
    if (isScenario(value)) {
      if (passOverOthers) passedOver++;
      else problems.push(`${source}: is a scenario and no manifest; run it with --scenario ${file}`);
      continue;
    }
    if (isEncrypted(value)) {
      const command = `; run it with sops decrypt ${shellWord(file)} | kubewright run -`;
      templates.push(`${source}: ignored: is encrypted with SOPS${isRendered ? "" : command}`);
      continue;
    }
    if (Array.isArray(value) && value.some(looksLikeObject)) {
      problems.push(
        `${source}: a list of objects is no object; make it the items of a List, or let jq '.[]' take it apart`,
      );
      continue;
    }
    if (passOverOthers && !looksLikeObject(value)) {
      passedOver++;
      continue;
    }
    warnings.push(...(mayRepeatKeys(piece.text) ? document.repeatedKeys() : []));
    const template = isOpenShiftTemplate(value) ? processTemplate(value) : undefined;
    const items = template === undefined ? objectsOf(document) : templateItems(template, document);
    if (template !== undefined && template.missing.length > 0)
      templates.push(
        `${source}: parameters without a default: ${template.missing.join(", ")}; run it with oc process --local -f ${shellWord(file)} ${template.missing.map((name) => `-p ${name}=VALUE`).join(" ")} | kubewright run -`,
      );
    for (const item of items) {
      const problem = objectProblem(item, piece.text);
      if (problem === undefined)
        manifests.push(withStableVersion({ ...item, object: item.object as UnstructuredObject }));
      else addProblem(`${items.length > 1 || isList(value) ? item.place([]) : source}: ${problem}`, kindOf(item));
    }
  }
  return { manifests, problems, mistakes, warnings, templates, passedOver };
}

interface Candidate extends Pick<Manifest, "source" | "place"> {
  readonly object: unknown;
}

/** Returns the document, or the items of a list. Items without a kind have the list's kind. */
function objectsOf({ value, source, isJson, place }: ReadDocument): Candidate[] {
  if (!isList(value)) return [{ object: value, source, place }];
  const { kind, apiVersion } = value;
  const ofOneKind = kind === "List" ? {} : { apiVersion, kind: kind.slice(0, -"List".length) };
  return (value.items ?? []).map((item, index) => ({
    object: isRecord(item) && item["kind"] === undefined ? { ...ofOneKind, ...item } : item,
    // Large exports are JSON, where the place of an item is computed only on demand.
    source: isJson ? `${source} item ${index + 1}` : place(["items", index]),
    place: (path, options) => place(["items", index, ...path], options),
  }));
}

function templateItems({ objects }: ProcessedTemplate, { source, isJson, place }: ReadDocument): Candidate[] {
  return objects.map(({ object, index }) => ({
    object,
    source: isJson ? `${source} object ${index + 1}` : place(["objects", index]),
    place: (path, options) => place(["objects", index, ...path], options),
  }));
}

/** Whether the value is a list of one kind or of any kind, possibly without items. */
function isList(value: unknown): value is { kind: string; apiVersion: unknown; items?: unknown[] | null } {
  if (!isRecord(value)) return false;
  const { apiVersion, kind, items } = value;
  if (typeof kind !== "string" || !kind.endsWith("List")) return false;
  return Array.isArray(items) || (kind === "List" && apiVersion === "v1" && (items ?? null) === null);
}

/** Whether the values are encrypted, with SOPS metadata beside them. */
function isEncrypted(value: unknown): boolean {
  return (
    isRecord(value) && value["kind"] !== undefined && isRecord(value["sops"]) && value["sops"]["mac"] !== undefined
  );
}

function isScenario(value: unknown): boolean {
  return (
    isRecord(value) && value["kind"] === "Scenario" && String(value["apiVersion"]).startsWith("sim.kubewright.dev/")
  );
}

/** Whether the value is meant to be an object, valid or not. A values file or a pipeline configuration is not. */
function looksLikeObject(value: unknown): boolean {
  if (!isRecord(value) || value["apiVersion"] === undefined || value["kind"] === undefined) return false;
  // A tool's configuration has a kind but no name.
  return !isToolFile(value) && (isBuiltIn(value) || isList(value) || value["metadata"] !== undefined);
}

/** Whether Kubernetes defines the required fields of the object. */
function isBuiltIn({ apiVersion }: Record<string, unknown>): boolean {
  return typeof apiVersion !== "string" || /^(v1|(apps|batch)\/.*)$/.test(apiVersion);
}

function kindOf({ object }: Candidate): string | undefined {
  const kind = isRecord(object) ? object["kind"] : undefined;
  return typeof kind === "string" ? kind : undefined;
}

/** Returns the kind in a text that cannot be parsed. */
function kindIn(text: string): string | undefined {
  if (/^\s*\{/.test(text)) return /"kind"\s*:\s*"(\w+)"/.exec(text)?.[1];
  return /^"?kind"?\s*:\s*["']?(\w+)["']?\s*(?:#.*|,)?$/m.exec(text)?.[1];
}

/** Whether a text that cannot be parsed was meant to be an object. */
function mentionsObject(text: string): boolean {
  if (/^\s*\{/.test(text)) return /"apiVersion"\s*:/.test(text) && /"kind"\s*:/.test(text);
  return /^[\s"{-]*apiVersion"?\s*:/m.test(text) && /^[\s"{-]*kind"?\s*:/m.test(text);
}

/**
 * Whether the value is a tool's file in the form of an object: a Kustomization, or a file of kubectl, kind or Skaffold.
 * API servers do not serve such kinds.
 */
function isToolFile({ apiVersion, kind }: Record<string, unknown>): boolean {
  return (
    String(apiVersion).startsWith("kustomize.config.k8s.io/") ||
    (apiVersion === "v1" && kind === "Config") ||
    String(apiVersion).startsWith("kind.x-k8s.io/") ||
    String(apiVersion).startsWith("skaffold/")
  );
}

function objectProblem({ object }: Candidate, text: string): string | undefined {
  if (!isRecord(object)) return `not a Kubernetes object: a mapping with apiVersion, kind and metadata is expected`;
  for (const field of ["apiVersion", "kind"] as const) {
    const value = object[field];
    if (value === undefined || value === null || value === "") return `${field} is missing`;
    if (typeof value !== "string") return `${field} must be text, not ${JSON.stringify(value)}`;
  }
  if (!isRecord(object["metadata"])) return "metadata is missing";
  const { name, generateName } = object["metadata"];
  // For other kinds it is unknown whether a name is required.
  if ((name === undefined || name === null || name === "") && !generateName && isBuiltIn(object))
    return `${String(object["kind"])}: metadata.name is missing${isTemplate(text) ? "; the text is a Helm template: render it first" : ""}`;
  return undefined;
}

/** The search for repeated keys parses the text as YAML, which would be slow for large JSON exports. */
function mayRepeatKeys(text: string): boolean {
  return !/^\s*\{/.test(text);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
