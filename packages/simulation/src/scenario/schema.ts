export const SCENARIO_API_VERSION = "sim.kubewright.dev/v1";

/** What a value means beyond its JSON type. Checks, the minimiser and mutations of plans follow from it. */
export type Role =
  | "component"
  | "controller"
  | "controllerOrManager"
  | "delay"
  | "duration"
  | "job"
  | "jump"
  | "kind"
  | "manager"
  | "node"
  | "process"
  | "target"
  | "watcher";

/** Key of a schema's role: a symbol, so that the published JSON does not have it. */
const ROLE = Symbol("role");

/** A part of a JSON schema. */
export interface Schema {
  readonly [keyword: string]: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/** A JSON schema whose values have the type. */
export interface Typed<Value> extends Schema {
  /** For the compiler only: never set. */
  readonly "~value": Value;
}

/** The type of a schema's values. */
export type ValueOf<S> = S extends { readonly "~value": infer Value } ? Value : never;

export function typed<Value>(schema: Schema, role?: Role): Typed<Value> {
  return { ...schema, ...(role === undefined ? {} : { [ROLE]: role }) } as Typed<Value>;
}

export function oneOf<const Values extends readonly unknown[]>(...values: Values): Typed<Values[number]> {
  return typed({ enum: values });
}

export function list<Item>(items: Typed<Item>): Typed<readonly Item[]> {
  return typed({ type: "array", minItems: 1, items });
}

type Fields<Properties, Required extends keyof Properties> = Flat<
  { readonly [Name in Required]: ValueOf<Properties[Name]> } & {
    readonly [Name in Exclude<keyof Properties, Required>]?: ValueOf<Properties[Name]>;
  }
>;
type Flat<T> = { readonly [Name in keyof T]: T[Name] };

/** Returns the schema of an object with these fields and no others. */
export function fields<Properties extends Readonly<Record<string, Schema>>, Required extends keyof Properties = never>(
  description: string,
  properties: Properties,
  required: readonly Required[] = [],
): Typed<Fields<Properties, Required>> {
  return typed({ description, type: "object", properties, required, additionalProperties: false });
}

/** Kubernetes' controllers, by their upstream names. */
export const CONTROLLERS = [
  "cronjob-controller",
  "job-controller",
  "ttl-after-finished-controller",
  "pod-garbage-collector-controller",
  "garbage-collector-controller",
  "node-lifecycle-controller",
] as const;

/** Proposes known names in editors; others are possible. */
function names(known: readonly string[], role: Role): Typed<string> {
  return typed({ anyOf: [{ enum: known }, text] }, role);
}

export const text = typed<string>({ type: "string", minLength: 1 });
export const flag = typed<boolean>({ type: "boolean" });
export const count = typed<number>({ type: "integer", minimum: 1 });
export const amount = typed<number>({ type: "integer", minimum: 0 });
export const duration = typed<string>({ $ref: "#/$defs/duration" }, "duration");
/** A duration that may be 0. */
export const delay = typed<string>(duration, "delay");
export const jump = typed<string>(
  {
    type: "string",
    pattern: "^[+-]([0-9]+(\\.[0-9]+)?(ms|[smhdw]))+$",
    title: "a jump",
    examples: ["+2h", "-30m"],
  },
  "jump",
);
export const labels = typed<Readonly<Record<string, string>>>({
  description: "Labels that must all be there.",
  type: "object",
  minProperties: 1,
  additionalProperties: { type: "string" },
});
const COMPONENTS = [...CONTROLLERS, "scheduler", "kubelet", "user"];
export const component = names(COMPONENTS, "component");
/** A component with caches. */
export const watcher = names(COMPONENTS, "watcher");
export const controller = names(["all", ...CONTROLLERS], "controller");
export const controllerOrManager = names(["all", ...CONTROLLERS], "controllerOrManager");
/** A kind of object that is watched. */
export const kind = names(["CronJob", "Job", "Pod", "Node", "Namespace"], "kind");
export const kinds = typed<readonly string[]>(list(typed({ anyOf: kind["anyOf"] })), "kind");
/** A controller manager. */
export const manager = typed<string>(text, "manager");
/** A controller manager, or a controller that is a process of its own. */
export const process = typed<string>(text, "process");
export const node = typed<string>(text, "node");
export const components = { description: "Which component. Default: all.", ...list(component) };
export const controllerManager = { description: "Only of this controller manager. Default: of all.", ...process };
export const taintFields = {
  key: text,
  value: typed<string>({ type: "string" }),
  effect: oneOf("NoSchedule", "PreferNoSchedule", "NoExecute"),
};
export const manifest = {
  title: "a path or a Kubernetes object",
  minLength: 1,
  required: ["apiVersion", "kind", "metadata"],
  properties: { apiVersion: text, kind: text, metadata: { type: "object" } },
} as const;

export const job = typed<string>(text, "job");

/** The fields of a {@link Target}. */
export const targetFields = {
  kind: { description: "What kind of object.", ...oneOf("CronJob", "Job", "Pod", "Node", "Namespace") },
  namespace: { description: "Default: default.", ...text },
  name: { description: "The object's name.", ...text },
  labels,
};

/** The objects of a user action. */
export type Target = Fields<typeof targetFields, "kind">;

/** Returns the schema of a user action: a target with other fields. */
export const targets: typeof fields = (description, properties, required) =>
  typed(fields(description, properties, required), "target");

/** A value with a role, and its place. */
export interface RoleValue {
  readonly role: Role;
  readonly value: unknown;
  readonly path: readonly (string | number)[];
  /** The object that has it as a field. */
  readonly parent: unknown;
}

export function roleOf(schema: Schema & { readonly [ROLE]?: Role }): Role | undefined {
  return schema[ROLE];
}

/** Returns the values with a role within a value that matches the schema, outer ones first. */
export function rolesIn(schema: Schema, value: unknown, path: RoleValue["path"] = [], parent?: unknown): RoleValue[] {
  const role = roleOf(schema);
  const own = role === undefined ? [] : [{ role, value, path, parent }];
  if (typeof value !== "object" || value === null) return own;
  const inside = Object.entries(value).flatMap(([key, part]) => {
    const schemaOf = Array.isArray(value) ? schema.items : schema.properties?.[key];
    return schemaOf === undefined
      ? []
      : rolesIn(schemaOf, part, [...path, Array.isArray(value) ? Number(key) : key], value);
  });
  return [...own, ...inside];
}
