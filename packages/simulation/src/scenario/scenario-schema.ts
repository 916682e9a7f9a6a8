import { SCENARIO_API_VERSION } from "./scenario-file.js";

/** Kubernetes' controllers, by their upstream names. */
export const CONTROLLERS = [
  "cronjob-controller",
  "job-controller",
  "ttl-after-finished-controller",
  "pod-garbage-collector-controller",
  "garbage-collector-controller",
  "node-lifecycle-controller",
] as const;

const COMPONENTS = [...CONTROLLERS, "scheduler", "kubelet", "user"] as const;

/** Editors propose the known names; custom controllers have others. */
const component = { anyOf: [{ enum: [...COMPONENTS] }, { type: "string", minLength: 1 }] } as const;

const allOrController = { anyOf: [{ enum: ["all", ...CONTROLLERS] }, { type: "string", minLength: 1 }] } as const;
const text = { type: "string", minLength: 1 } as const;
const labels = {
  description: "Labels that must all be there.",
  type: "object",
  minProperties: 1,
  additionalProperties: { type: "string" },
} as const;
const namespace = { description: "Default: default.", ...text } as const;
const name = { description: "The object's name.", ...text } as const;
const subject = {
  anyOf: [{ enum: ["CronJob", "Job", "Pod", "Node", "Namespace"] }, { type: "string", minLength: 1 }],
} as const;
const watched = {
  controller: { description: "Which component. Default: all.", ...component },
  kinds: { description: "Of which kinds. Default: of all.", type: "array", minItems: 1, items: subject },
} as const;
const count = { type: "integer", minimum: 1 } as const;
const jump = {
  type: "string",
  pattern: "^[+-]([0-9]+(\\.[0-9]+)?(ms|[smhdw]))+$",
  title: "a jump",
  examples: ["+2h", "-30m"],
} as const;
const requests = {
  verbs: {
    description: "Default: every verb. write: create, update, patch and delete.",
    type: "array",
    minItems: 1,
    items: { enum: ["create", "update", "patch", "delete", "deletecollection", "get", "list", "watch", "write"] },
  },
  resources: {
    description: "Plural names, with their subresources. Default: all.",
    type: "array",
    minItems: 1,
    items: {
      type: "string",
      pattern: "^[a-z][a-z0-9]*(/[a-z]+)?$",
      title: "a resource",
      examples: ["pods", "jobs/status"],
    },
  },
  namespace: { description: "Default: every namespace.", type: "string", minLength: 1 },
  name: { description: "The object's name. Default: every name.", type: "string", minLength: 1 },
} as const;
const controllerManager = { description: "Only of this controller manager. Default: of all.", ...text } as const;
const duration = { $ref: "#/$defs/duration" } as const;
const workTime = { $ref: "#/$defs/workTime" } as const;
const numbers = { $ref: "#/$defs/numbers" } as const;
const quantity = {
  type: ["string", "number"],
  pattern: "^[0-9]+(\\.[0-9]+)?([mkMGTPE]|[KMGTPE]i)?$",
  minimum: 0,
  title: "a quantity",
  examples: ["4", "500m", "16Gi"],
} as const;
const taint = {
  key: text,
  value: { type: "string" },
  effect: { enum: ["NoSchedule", "PreferNoSchedule", "NoExecute"] },
} as const;
const target = {
  kind: { description: "What kind of object.", enum: ["CronJob", "Job", "Pod", "Node", "Namespace"] },
  namespace,
  name,
  labels,
} as const;

function fields<T extends object>(description: string, properties: T, required: readonly (keyof T)[]): object {
  return { description, type: "object", properties, required, additionalProperties: false };
}

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
    start: { description: "Where virtual time starts. Default: 2026-01-01T00:00:00Z.", $ref: "#/$defs/time" },
    for: { description: "How much virtual time to simulate, ten years at most. Default: 1d.", ...duration },
    seed: { description: "Same seed, same run. Default: 1.", type: "integer", minimum: 0, maximum: 4294967295 },
    timeZone: { description: "Zone of CronJobs that name none. Default: UTC.", ...text },
    controllerManagers: {
      description: "Replicas of the controller manager. With more than one they elect a leader. Default: 1.",
      type: "integer",
      minimum: 1,
      maximum: 5,
    },
    controllers: fields(
      "How the controllers are set up.",
      {
        consistencyGate: {
          description: "Whether the Job controller waits until it sees its own writes. Default: true.",
          type: "boolean",
        },
        maxUncountedPods: { description: "Most ended pods that one sync accounts for. Default: 500.", ...count },
        maxPodsPerSync: { description: "Most pods that one sync creates, or deletes. Default: 500.", ...count },
        terminatedPodGCThreshold: {
          description: "Ended pods that PodGC keeps; 0 or less: all. Default: 12500.",
          type: "integer",
        },
        leaseDurations: {
          description:
            "Of the Lease, in whole seconds, one for each controller manager; the last holds for the rest. Default: 15s.",
          type: "array",
          minItems: 1,
          maxItems: 5,
          items: duration,
        },
        sharding: {
          description:
            "Whether the controller managers share the work by buckets of namespaces instead of electing a leader. Default: false.",
          type: "boolean",
        },
      },
      [],
    ),
    jitter: fields(
      "How long requests and events take at most; how long each takes is drawn. Default: none takes any time.",
      {
        requests: { description: "Requests, there and back. Default: 0s.", ...duration },
        events: { description: "Events of watches. Default: 0s.", ...duration },
      },
      [],
    ),
    nodes: {
      description: "The machines. Default: three of 16 cores, 64Gi and 110 pods.",
      type: "array",
      minItems: 1,
      maxItems: 1000,
      items: fields(
        "A machine, or several alike.",
        {
          name: {
            description: "Its name; with count, NAME-1, NAME-2 and so on.",
            pattern: "^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$",
            type: "string",
            maxLength: 58,
            title: "a node name",
            examples: ["node", "large"],
          },
          count: { type: "integer", minimum: 1, maximum: 5000 },
          cpu: { description: "Allocatable cores. Default: 16.", ...quantity },
          memory: { description: "Allocatable memory. Default: 64Gi.", ...quantity },
          pods: { description: "Most pods. Default: 110.", type: "integer", minimum: 1 },
          labels: { type: "object", additionalProperties: { type: "string" } },
          taints: { type: "array", items: fields("A taint.", taint, ["key", "effect"]) },
        },
        ["name"],
      ),
    },
    workloads: {
      description: "How containers behave. Of several entries that apply, the last that says something counts.",
      type: "array",
      items: fields(
        "How some containers behave.",
        {
          select: fields(
            "Whose containers: all Jobs and CronJobs that everything given holds for.",
            { kind: { enum: ["CronJob", "Job"] }, namespace: text, name: text, labels },
            [],
          ),
          container: { description: "Only the container of this name. Default: all.", ...text },
          indexes: { description: "Only pods of these completion indexes.", ...numbers },
          attempts: { description: "Only these attempts of a Job, or of its index: 1 is the first.", ...numbers },
          duration: { description: "How long it runs. Default: 10s.", ...workTime },
          startupDelay: {
            description: "From the pod's acceptance to its containers' start. Default: 1s.",
            ...workTime,
          },
          exitCode: {
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
          },
          ignoreSigterm: { description: "Keep running until the grace period is over.", type: "boolean" },
        },
        ["select"],
      ),
    },
    manifests: {
      description: "Kubernetes objects, and files and folders of them, relative to this file.",
      type: "array",
      items: {
        type: ["string", "object"],
        title: "a path or a Kubernetes object",
        examples: ["../cronjob.yaml"],
        minLength: 1,
        required: ["apiVersion", "kind", "metadata"],
        properties: { apiVersion: text, kind: text, metadata: { type: "object" } },
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
          at: { description: "A time, or an offset from the start.", $ref: "#/$defs/timeOrOffset" },
          for: { description: "How long it lasts. Without it, where that makes sense: until the end.", ...duration },
          requestFails: fields(
            "Requests get another answer than the API server's.",
            {
              components: {
                description: "Which component. Default: all.",
                type: "array",
                minItems: 1,
                items: component,
              },
              controllerManager,
              ...requests,
              with: {
                description: "An HTTP status, or timeout for no answer at all. Default: 500.",
                enum: [400, 403, 404, 409, 422, 429, 500, 503, 504, "timeout"],
              },
              effect: {
                description: "Whether they are done all the same, and only the answer is lost. Default: none.",
                enum: ["none", "kept"],
              },
              nth: { description: "The first that fails, counted from then on. Default: 1.", ...count },
              times: { description: "How many fail. Default: all, while it lasts.", ...count },
              whileAtLeast: {
                description: "Only while so many objects of the resource are in the namespace, as with a quota.",
                type: "integer",
                minimum: 0,
              },
            },
            [],
          ),
          controllerCrashes: fields(
            "A controller is killed right before or after one of its requests is done, and started again.",
            {
              controller: { description: "Which; all: the controller manager that sends it.", ...allOrController },
              ...requests,
              nth: { description: "Which of these requests, counted from then on. Default: 1.", ...count },
              when: { description: "Default: after.", enum: ["before", "after"] },
              restartAfter: { description: "Time until it restarts. Default: 1s.", ...duration },
            },
            ["controller"],
          ),
          paused: { description: "A controller manager is paused, and continues later.", ...text },
          shutdown: {
            description:
              "A controller manager that shares work receives SIGTERM, finishes its syncs and releases its buckets. With `for`, it restarts.",
            ...text,
          },
          watchCut: fields(
            "Open watches end.",
            {
              ...watched,
              compacted: {
                description:
                  "Whether the missed versions are compacted, so that the watcher lists again. Default: false.",
                type: "boolean",
              },
            },
            [],
          ),
          watchSilent: fields("Open watches deliver nothing more, not even their end.", watched, []),
          staleList: fields(
            "Lists are answered from what was stored so long ago, unless they ask for something newer.",
            { ...watched, by: { description: "How long ago.", ...duration } },
            ["by"],
          ),
          apiServerRestart: {
            description: "The API server restarts: watches end, and earlier resource versions are unknown.",
            const: true,
          },
          clockSkew: fields(
            "The wall clock of one controller manager is set forward or back; with `for`, it is set right after.",
            { controllerManager: text, by: { description: "By how much.", ...jump } },
            ["controllerManager", "by"],
          ),
          controllerDown: {
            description: "A controller is killed, a controller manager by its name, or all of these.",
            ...allOrController,
          },
          controllerUp: { description: "It is started, with nothing remembered.", ...allOrController },
          leaseLost: {
            description:
              "The leading controller manager cannot renew its Lease: `true`; or one by its name. Default length: 30s.",
            anyOf: [{ const: true }, text],
          },
          clockJump: {
            description: "The wall clock of the controllers' machine is set forward or back.",
            ...jump,
          },
          staleCache: fields(
            "A controller's cache of a kind gets nothing new for a while.",
            {
              kind: subject,
              controller: component,
            },
            ["kind", "controller"],
          ),
          apiServerDown: {
            description: "The API server cannot be reached, by all or by some components, and watches are cut.",
            title: "all, or a list of components",
            examples: ["all", "[job-controller]"],
            type: ["string", "array"],
            pattern: "^all$",
            minItems: 1,
            items: component,
          },
          apiServerSlow: fields(
            "Requests take longer.",
            {
              by: { description: "How much longer.", ...duration },
              components: {
                description: "Which component. Default: all.",
                type: "array",
                minItems: 1,
                items: component,
              },
              controllerManager,
            },
            ["by"],
          ),
          nodeLost: { description: "A node is cut off: its containers run on, unheard of.", ...text },
          nodeDrained: { description: "A node is cordoned and its pods are evicted, as by kubectl drain.", ...text },
          nodeTainted: fields("A node gets a taint.", { node: text, ...taint }, ["node", "key", "effect"]),
          podEvicted: fields(
            "Running pods are evicted through the API.",
            {
              namespace,
              name,
              labels,
              job: { description: "Pods of this Job.", ...text },
              count: { description: "How many, the oldest first. Default: 1.", type: "integer", minimum: 1 },
            },
            [],
          ),
          patch: fields(
            "A user patches objects.",
            {
              ...target,
              type: { description: "Default: merge.", enum: ["merge", "strategic", "json"] },
              subresource: {
                description: "What of the object is patched. Default: all but its status.",
                enum: ["status"],
              },
              with: {
                description: "The patch: an object, or for type json a list of operations.",
                type: ["object", "array"],
              },
            },
            ["kind", "with"],
          ),
          suspend: fields("A user suspends Jobs or CronJobs; with `for`, they are resumed after.", target, ["kind"]),
          resume: fields("A user resumes Jobs or CronJobs.", target, ["kind"]),
          delete: fields(
            "A user deletes objects.",
            {
              ...target,
              propagation: {
                description: "Default: Background, as with kubectl.",
                enum: ["Background", "Foreground", "Orphan"],
              },
              gracePeriodSeconds: { type: "integer", minimum: 0 },
            },
            ["kind"],
          ),
          apply: {
            description: "A user applies an object, or the objects of a file, by server-side apply.",
            type: ["string", "object"],
            title: "a path or a Kubernetes object",
            examples: ["changed.yaml"],
            minLength: 1,
            required: ["apiVersion", "kind", "metadata"],
            properties: { apiVersion: text, kind: text, metadata: { type: "object" } },
          },
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

const { workloads } = scenarioSchema.properties;

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
    workloads,
  },
  $defs: scenarioSchema.$defs,
} as const;
