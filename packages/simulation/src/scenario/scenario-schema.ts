import { EVENTS } from "../faults/registry.js";
import {
  type ValueOf,
  SCENARIO_API_VERSION,
  count,
  duration,
  fields,
  flag,
  labels,
  manifest,
  oneOf,
  taintFields,
  text,
  typed,
} from "./schema.js";

const workTime = typed<string>({ $ref: "#/$defs/workTime" }, "delay");
const numbers = typed<number | string>({ $ref: "#/$defs/numbers" });
const quantity = typed<number | string>({
  type: ["string", "number"],
  pattern: "^[0-9]+(\\.[0-9]+)?([mkMGTPE]|[KMGTPE]i)?$",
  minimum: 0,
  title: "a quantity",
  examples: ["4", "500m", "16Gi"],
});

const controllers = fields("How the controllers are set up.", {
  consistencyGate: {
    description: "Whether the Job controller waits until it sees its own writes. Default: true.",
    ...flag,
  },
  maxUncountedPods: { description: "Most ended pods that one sync accounts for. Default: 500.", ...count },
  maxPodsPerSync: { description: "Most pods that one sync creates, or deletes. Default: 500.", ...count },
  terminatedPodGCThreshold: typed<number>({
    description: "Ended pods that PodGC keeps; 0 or less: all. Default: 12500.",
    type: "integer",
  }),
  leaseDurations: typed<readonly string[]>({
    description:
      "Of the Lease, in whole seconds, one for each controller manager; the last holds for the rest. Default: 15s.",
    type: "array",
    minItems: 1,
    maxItems: 5,
    items: { $ref: "#/$defs/duration" },
  }),
  sharding: {
    description:
      "Whether the controller managers share the work by buckets of namespaces instead of electing a leader. Default: false.",
    ...flag,
  },
});

/** Settings of the controllers of a scenario. */
export type ControllerSettings = ValueOf<typeof controllers>;

const jitter = fields(
  "How long requests and events take at most; how long each takes is drawn. Default: none takes any time.",
  {
    requests: { description: "Requests, there and back. Default: 0s.", ...duration },
    events: { description: "Events of watches. Default: 0s.", ...duration },
  },
);

/** Maximum delays, as durations. The delay of each request and event is drawn between 0 and the maximum. */
export type Jitter = ValueOf<typeof jitter>;

const taint = fields("A taint.", taintFields, ["key", "effect"]);

const nodeGroup = fields(
  "A machine, or several alike.",
  {
    name: typed<string>({
      description: "Its name; with count, NAME-1, NAME-2 and so on.",
      pattern: "^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$",
      type: "string",
      maxLength: 58,
      title: "a node name",
      examples: ["node", "large"],
    }),
    count: { ...count, maximum: 5000 },
    cpu: { description: "Allocatable cores. Default: 16.", ...quantity },
    memory: { description: "Allocatable memory. Default: 64Gi.", ...quantity },
    pods: { description: "Most pods. Default: 110.", ...count },
    labels: typed<ValueOf<typeof labels>>({ type: "object", additionalProperties: { type: "string" } }),
    taints: typed<readonly ValueOf<typeof taint>[]>({ type: "array", items: taint }),
  },
  ["name"],
);

/** A machine, or with `count` several alike. */
export type NodeGroup = ValueOf<typeof nodeGroup>;

const workload = fields(
  "How some containers behave.",
  {
    select: fields("Whose containers: all Jobs and CronJobs that everything given holds for.", {
      kind: oneOf("CronJob", "Job"),
      namespace: text,
      name: text,
      labels,
    }),
    container: { description: "Only the container of this name. Default: all.", ...text },
    indexes: { description: "Only pods of these completion indexes.", ...numbers },
    attempts: { description: "Only these attempts of a Job, or of its index: 1 is the first.", ...numbers },
    duration: { description: "How long it runs. Default: 10s.", ...workTime },
    startupDelay: {
      description: "From the pod's acceptance to its containers' start. Default: 1s.",
      ...workTime,
    },
    exitCode: typed<number | Readonly<Record<string, number>>>({
      description: "What it exits with: one code, or several with their shares. Default: 0.",
      type: ["integer", "object"],
      title: "an exit code from 0 to 255, or several with their shares",
      examples: ["3", "{ 0: 0.9, 137: 0.1 }"],
      minimum: 0,
      maximum: 255,
      minProperties: 1,
      propertyNames: {
        pattern: "^([0-9]{1,2}|1[0-9]{2}|2[0-4][0-9]|25[0-5])$",
        title: "an exit code from 0 to 255",
        examples: ["0", "137"],
      },
      additionalProperties: { type: "number", minimum: 0 },
    }),
    ignoreSigterm: { description: "Keep running until the grace period is over.", ...flag },
  },
  ["select"],
);

/** How the selected containers behave. */
export type WorkloadEntry = ValueOf<typeof workload>;

/** The JSON schema of scenario files, published as `docs/scenario.schema.json`. */
export const scenarioSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $id: "https://kubewright.dev/scenario.schema.json",
  title: "a kubewright scenario",
  description:
    "What `kubewright run --scenario FILE` simulates: manifests, how their containers behave, and timed events.",
  type: "object",
  required: ["apiVersion", "kind"],
  additionalProperties: false,
  properties: {
    apiVersion: { const: SCENARIO_API_VERSION },
    kind: { const: "Scenario" },
    name: { description: "A short name. Default: the file's.", ...text },
    description: { description: "One paragraph that says what to look for; printed above the timeline.", ...text },
    start: {
      description: "Where virtual time starts. Default: the next full hour; in a fault plan, 2026-01-01T00:00:00Z.",
      $ref: "#/$defs/time",
    },
    for: { description: "How much virtual time to simulate, ten years at most. Default: 1d.", ...duration },
    seed: { description: "Same seed, same run. Default: 1.", type: "integer", minimum: 0, maximum: 4294967295 },
    timeZone: { description: "Zone of CronJobs that name none. Default: UTC.", ...text },
    controllerManagers: {
      description: "Replicas of the controller manager. With more than one they elect a leader. Default: 1.",
      type: "integer",
      minimum: 1,
      maximum: 5,
    },
    controllers,
    jitter,
    nodes: {
      description: "The machines. Default: three of 16 cores, 64Gi and 110 pods.",
      type: "array",
      minItems: 1,
      maxItems: 1000,
      items: nodeGroup,
    },
    workloads: {
      description: "How containers behave. Of several entries that apply, the last that says something counts.",
      type: "array",
      items: workload,
    },
    manifests: {
      description: "Kubernetes objects, and files and folders of them, relative to this file.",
      type: "array",
      items: {
        type: ["string", "object"],
        examples: ["../cronjob.yaml"],
        ...manifest,
      },
    },
    events: {
      description: "Events, each with `at` and one kind of event.",
      type: "array",
      items: {
        type: "object",
        required: ["at"],
        additionalProperties: false,
        properties: {
          at: typed<string>(
            { description: "A time, or an offset from the start.", $ref: "#/$defs/timeOrOffset" },
            "delay",
          ),
          for: { description: "How long it lasts. Without it, where that makes sense: until the end.", ...duration },
          ...Object.fromEntries(Object.entries(EVENTS).map(([kind, { schema }]) => [kind, schema])),
        },
      },
    },
  },
  $defs: {
    duration: {
      type: "string",
      pattern: "^([0-9]+(\\.[0-9]+)?(ms|[smhdw]))+$",
      title: "a duration",
      examples: ["30d", "1d12h", "90m", "45s"],
    },
    workTime: {
      type: "string",
      pattern:
        "^((normal|lognormal|exponential)\\(.+\\)( +in +[0-9.a-z]+)?|[0-9.]+(ms|s|m|h)([0-9.]+(ms|s|m|h))*(\\.\\.[0-9.]+(ms|s|m|h)([0-9.]+(ms|s|m|h))*)?|0)$",
      title: "a duration, a range or a distribution",
      examples: ["5m", "20m..70m", "normal(10m, 2m)", "lognormal(10m, 0.5) in 5m..2h", "exponential(10m)"],
    },
    numbers: {
      type: ["integer", "string"],
      minimum: 0,
      pattern: "^[0-9]+(-[0-9]+)?(, *[0-9]+(-[0-9]+)?)*$",
      title: "numbers",
      examples: ["3", '"1,3-5"'],
    },
    time: {
      type: "string",
      pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2}))?$",
      title: "a time",
      examples: ["2026-03-28T22:00:00Z", "2026-03-28T23:00:00+01:00"],
    },
    timeOrOffset: {
      type: "string",
      pattern:
        "^(\\+([0-9]+(\\.[0-9]+)?(ms|[smhdw]))+|[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2}))?)$",
      title: "a time or an offset from the start",
      examples: ["2026-03-28T22:00:00Z", "+2h30m"],
    },
  },
} as const;

/** The JSON schema of files with `kind: Workloads`. */
export const workloadsSchema = {
  $schema: scenarioSchema.$schema,
  title: "kubewright workloads",
  description: "How containers behave, for `kubewright run --workloads`.",
  type: "object",
  additionalProperties: false,
  required: ["apiVersion", "kind", "workloads"],
  properties: {
    apiVersion: scenarioSchema.properties.apiVersion,
    kind: { const: "Workloads" },
    workloads: scenarioSchema.properties.workloads,
  },
  $defs: scenarioSchema.$defs,
} as const;
