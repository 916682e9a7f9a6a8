import { zones } from "../scenario/zones.ts";
import { type JsonSchema, SchemaTree, type Step } from "./json-schema.ts";
import type { YamlPosition } from "./yaml-position.ts";

/** The schema of a kind of document. */
export interface DocumentSchema {
  readonly tree: SchemaTree;
  /** Returns the schema of the document at a position; `undefined` when its kind is unknown or missing. */
  rootOf(place: Pick<YamlPosition, "top">): JsonSchema | undefined;
  /** Returns valid values that the schema does not contain. */
  valuesOf(path: readonly Step[]): readonly string[];
}

const SCHEDULES = [
  "*/15 * * * *",
  "0 * * * *",
  "30 2 * * *",
  "0 9 * * MON-FRI",
  "@hourly",
  "@daily",
  "@weekly",
  "@monthly",
];

/** Annotations that configure a simulated workload. Real clusters ignore them. */
const ANNOTATIONS: Readonly<Record<string, string>> = {
  "sim.kubewright.dev/duration":
    "How long a run takes in the simulation: 5m, a range such as 20m..70m, or lognormal(10m, 0.5). Default: 10s.",
  "sim.kubewright.dev/startup-delay":
    "From the pod's acceptance to its containers' start, in the simulation. Default: 1s.",
  "sim.kubewright.dev/exit-code":
    'What a run exits with in the simulation, or codes with shares: "0=0.9,3=0.1". Default: 0.',
  "sim.kubewright.dev/failure-rate": 'The probability that a run fails in the simulation: "0.2". Default: 0.',
  "sim.kubewright.dev/failure-exit-code": "What a run that fails exits with in the simulation. Default: 1.",
  "sim.kubewright.dev/failing-indexes": 'Pods with these completion indexes always fail in the simulation: "1,3-5".',
  "sim.kubewright.dev/ignore-sigterm":
    "Whether a deleted pod runs on until its grace period is over, in the simulation. Default: false.",
};

/** Returns the schema of manifests: Kubernetes' types, by `apiVersion` and `kind`. */
export async function manifestSchema(): Promise<DocumentSchema> {
  const { api } = await import("playground:schemas");
  const kinds = Object.keys(api.kinds);
  const annotations: JsonSchema = {
    type: "object",
    properties: Object.fromEntries(
      Object.entries(ANNOTATIONS).map(([name, description]) => [name, { type: "string", description }]),
    ),
    additionalProperties: { type: "string" },
  };
  const meta = api.$defs["ObjectMeta"]!;
  const { description } = meta.properties!["annotations"]!;
  const withAnnotations = {
    ...meta,
    properties: { ...meta.properties, annotations: { description: description ?? "", ...annotations } },
  };
  return {
    tree: new SchemaTree({ ...api.$defs, ObjectMeta: withAnnotations }),
    rootOf: ({ top }) => {
      const name = `${top.get("apiVersion") ?? ""}/${top.get("kind") ?? ""}`;
      const known = api.kinds[name];
      if (known !== undefined) return known;
      const isUnknown = top.has("apiVersion") && top.has("kind");
      if (isUnknown) return undefined;
      return {
        properties: {
          apiVersion: { enum: [...new Set(kinds.map((kind) => kind.slice(0, kind.lastIndexOf("/"))))] },
          kind: { enum: kinds.map((kind) => kind.slice(kind.lastIndexOf("/") + 1)) },
          metadata: { $ref: "#/$defs/ObjectMeta" },
        },
      };
    },
    valuesOf: (path) => {
      const last = path.at(-1);
      if (last === "timeZone") return zones();
      return last === "schedule" ? SCHEDULES : [];
    },
  };
}

/** Returns the schema of scenarios. */
export async function scenarioSchema(): Promise<DocumentSchema> {
  const { scenario } = await import("playground:schemas");
  return {
    tree: new SchemaTree(scenario.$defs ?? {}),
    rootOf: () => scenario,
    valuesOf: (path) => (path.length === 1 && path[0] === "timeZone" ? zones() : []),
  };
}
