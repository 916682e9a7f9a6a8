/** The objects of an OpenShift template with its default parameters. */
export interface ProcessedTemplate {
  /** The objects whose parameters have values, and all CronJobs, Jobs and pods. */
  readonly objects: readonly ProcessedObject[];
  /** Required parameters without a default, of CronJobs, Jobs and pods. Their references stay as they are. */
  readonly missing: readonly string[];
}

export interface ProcessedObject {
  readonly object: unknown;
  /** Index in the template. */
  readonly index: number;
}

interface Parameter {
  readonly name?: unknown;
  readonly value?: unknown;
  readonly generate?: unknown;
  readonly from?: unknown;
  readonly required?: unknown;
}

/** Whether a document is an OpenShift template. */
export function isOpenShiftTemplate(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isRecord(value) || value["kind"] !== "Template" || !Array.isArray(value["objects"])) return false;
  return value["apiVersion"] === "v1" || value["apiVersion"] === "template.openshift.io/v1";
}

/**
 * Fills in a template as `oc process` does: `${NAME}` becomes text, and a value `${{NAME}}` becomes JSON. Optional
 * parameters without a default are empty. Generated values are the first that their expression permits, because a
 * simulation needs no secrets.
 *
 * @see https://github.com/openshift/library-go/blob/master/pkg/template/templateprocessing/template.go
 */
export function processTemplate(template: Readonly<Record<string, unknown>>): ProcessedTemplate {
  const values = new Map<string, string>();
  const missing: string[] = [];
  for (const parameter of listOf(template["parameters"])) {
    if (!isRecord(parameter)) continue;
    const { name, value, generate, from, required } = parameter as Parameter;
    if (typeof name !== "string") continue;
    const isEmpty = value === undefined || value === null || value === "";
    if (!isEmpty) values.set(name, typeof value === "string" ? value : JSON.stringify(value));
    else if (generate === "expression" && typeof from === "string") values.set(name, firstMatch(from));
    else if (required === true) missing.push(name);
    else values.set(name, "");
  }
  const labels = isRecord(template["labels"]) ? fillIn(template["labels"], values) : undefined;
  const objects: ProcessedObject[] = [];
  const needed = new Set<string>();
  for (const [index, object] of listOf(template["objects"]).entries()) {
    const text = JSON.stringify(object);
    const lacks = missing.filter((name) => text.includes(`\${${name}}`) || text.includes(`\${{${name}}}`));
    if (lacks.length > 0 && !isWorkload(object)) continue;
    for (const name of lacks) needed.add(name);
    objects.push({ object: withLabels(fillIn(object, values), labels), index });
  }
  return { objects, missing: [...needed] };
}

/** Without its parameters, an object of another kind is of no use to a simulation. */
function isWorkload(object: unknown): boolean {
  return isRecord(object) && (object["kind"] === "CronJob" || object["kind"] === "Job" || object["kind"] === "Pod");
}

function fillIn(value: unknown, values: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") return fillInText(value, values);
  if (Array.isArray(value)) return value.map((item) => fillIn(item, values));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [String(fillInText(key, values)), fillIn(member, values)]),
  );
}

function fillInText(text: string, values: ReadonlyMap<string, string>): unknown {
  if (!text.includes("${")) return text;
  const filled = text.replace(/\$\{\{?(\w+)\}?\}/g, (whole, name: string) => values.get(name) ?? whole);
  if (!/^\$\{\{\w+\}\}$/.test(text) || filled === text) return filled;
  try {
    return JSON.parse(filled) as unknown;
  } catch {
    return filled;
  }
}

function withLabels(object: unknown, labels: unknown): unknown {
  if (!isRecord(object) || !isRecord(labels)) return object;
  const metadata = isRecord(object["metadata"]) ? object["metadata"] : {};
  const own = isRecord(metadata["labels"]) ? metadata["labels"] : {};
  return { ...object, metadata: { ...metadata, labels: { ...own, ...labels } } };
}

/** Longest generated value, in characters, as in OpenShift. */
const MAX_GENERATED = 255;

/**
 * Returns the first text of an expression such as `user[a-z0-9]{8}`.
 *
 * @see openshift/library-go pkg/template/generator/expressionvalue.go
 */
function firstMatch(expression: string): string {
  return expression.replace(/\[([^\]]+)\](?:\{(\d+)\})?/g, (_whole, range: string, length: string | undefined) => {
    const first = range.startsWith("\\w")
      ? "a"
      : range.startsWith("\\d")
        ? "0"
        : range.startsWith("\\a")
          ? "a"
          : range[0]!;
    return first.repeat(Math.min(Number(length ?? 1), MAX_GENERATED));
  });
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
