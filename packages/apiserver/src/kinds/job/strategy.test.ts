import { type Job, newestBehaviours } from "@kubewright/api";
import { expect, test } from "vitest";

import { causes, create, row, UID, update } from "../../../test/strategy-calls.js";
import { sortedKeys } from "../sorted-keys.js";
import { jobStrategy as strategyOf } from "./strategy.js";

const jobStrategy = strategyOf(newestBehaviours);

const podSpec = { restartPolicy: "Never", containers: [{ name: "c", image: "busybox" }] };
const generated = {
  "job-name": "j",
  "batch.kubernetes.io/job-name": "j",
  "controller-uid": UID,
  "batch.kubernetes.io/controller-uid": UID,
};
const QUALIFIED =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

function job(spec: object = {}, podFields: object = {}, templateMetadata?: object, metadata: object = {}): object {
  const template = { ...(templateMetadata && { metadata: templateMetadata }), spec: { ...podSpec, ...podFields } };
  return { metadata: { name: "j", ...metadata }, spec: { template, ...spec } };
}

function created(manifest: object): Job {
  const { object, message } = create(jobStrategy, manifest);
  expect(message).toBe("");
  jobStrategy.applyReadDefaults!(object);
  return object;
}

const rejected = (manifest: object): string => create(jobStrategy, manifest).message;

test("a minimal Job gets every default, the generated labels and their selector", () => {
  const { spec, metadata, status } = created(job());
  expect(spec).toMatchObject({
    completions: 1,
    parallelism: 1,
    backoffLimit: 6,
    completionMode: "NonIndexed",
    suspend: false,
    podReplacementPolicy: "TerminatingOrFailed",
    manualSelector: false,
    selector: { matchLabels: { "batch.kubernetes.io/controller-uid": UID } },
  });
  expect(spec?.template.metadata?.labels).toEqual(generated);
  expect(metadata).toMatchObject({ generation: 1, labels: generated });
  expect(status).toEqual({});
  expect(spec?.template.spec).toMatchObject({
    dnsPolicy: "ClusterFirst",
    securityContext: {},
    terminationGracePeriodSeconds: 30,
  });
  expect(spec?.template.spec).not.toHaveProperty("enableServiceLinks");
  expect(spec?.template.spec?.containers[0]).toMatchObject({
    imagePullPolicy: "Always",
    terminationMessagePolicy: "File",
  });
});

test("completions and parallelism are defaulted together", () => {
  expect(created(job({ parallelism: 3 })).spec).not.toHaveProperty("completions");
  expect(created(job({ completions: 3 })).spec?.parallelism).toBe(1);
});

test("backoffLimitPerIndex raises the default backoffLimit, and a failure policy changes podReplacementPolicy", () => {
  expect(created(job({ completionMode: "Indexed", completions: 2, backoffLimitPerIndex: 1 })).spec?.backoffLimit).toBe(
    2147483647,
  );
  const policy = { rules: [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget" }] }] };
  const { spec } = created(job({ podFailurePolicy: policy }));
  expect(spec?.podReplacementPolicy).toBe("Failed");
  expect(spec?.podFailurePolicy?.rules[0]?.onPodConditions?.[0]?.status).toBe("True");
});

test("a Job without labels gets its template's labels, including generated ones, unless its name was generated", () => {
  const manifest = job({}, {}, { labels: { a: "b" } });
  expect(create(jobStrategy, manifest).object.metadata.labels).toEqual({ a: "b", ...generated });
  const named = create(jobStrategy, manifest, true).object;
  expect(named.metadata.labels).toEqual({ a: "b" });
  expect(named.spec?.template.metadata?.labels).toEqual({ a: "b", ...generated });
});

test("a Job stored without labels is read with its template's labels", () => {
  const { object } = create(jobStrategy, job());
  expect(object.metadata).not.toHaveProperty("labels");
  expect(jobStrategy.applyReadDefaults!(object)).toBe(true);
  expect(object.metadata.labels).toEqual(generated);
  expect(jobStrategy.applyReadDefaults!(object)).toBe(false);
});

test("a name that is not a valid label value is reported for the template only", () => {
  const { message, object } = create(jobStrategy, job({}, {}, undefined, { name: "n".repeat(64) }));
  expect(message).toMatch(/^spec\.template\.labels: Invalid value: "n+": must be no more than 63 bytes$/);
  expect(object.metadata).not.toHaveProperty("labels");
});

test("a Job with labels keeps exactly those labels", () => {
  const { metadata, spec } = created(job({}, {}, { labels: { a: "b" } }, { labels: { own: "x" } }));
  expect(metadata.labels).toEqual({ own: "x" });
  expect(metadata.labels).not.toBe(spec?.template.metadata?.labels);
});

test("labels that the user chose instead of the generated ones are refused", () => {
  const message = rejected(job({}, {}, { labels: { "job-name": "other" } }));
  expect(message).toMatch(
    /^spec\.template\.metadata\.labels\[job-name\]: Invalid value: \{.*"job-name":"other"\}: must be 'j'$/,
  );
});

test("a user-provided selector needs manualSelector and matching labels", () => {
  const shown = `{"matchLabels":{"a":"b","batch.kubernetes.io/controller-uid":"${UID}"}}`;
  const labels = JSON.stringify(sortedKeys(generated));
  expect(rejected(job({ selector: { matchLabels: { a: "b" } } }))).toBe(
    `[spec.selector: Invalid value: ${shown}: \`selector\` not auto-generated, spec.template.metadata.labels: Invalid value: ${labels}: \`selector\` does not match template \`labels\`]`,
  );
  const selector = { matchLabels: { who: "me" } };
  const { spec, metadata } = created(job({ manualSelector: true, selector }, {}, { labels: { who: "me" } }));
  expect([spec?.template.metadata?.labels, metadata.labels]).toEqual([{ who: "me" }, { who: "me" }]);
  expect(rejected(job({ manualSelector: true }))).toBe(
    "[spec.selector: Required value, spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`]",
  );
  expect(rejected(job({ manualSelector: true, selector: { matchExpressions: [{ key: "a", operator: "Odd" }] } }))).toBe(
    'spec.selector.matchExpressions[0].operator: Invalid value: "Odd": not a valid selector operator',
  );
  expect(rejected(job({ manualSelector: true, selector: { matchExpressions: [{ key: "a", operator: "In" }] } }))).toBe(
    "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
  );
});

const indexed = { completionMode: "Indexed", completions: 5 };
const exitCodes = (operator: string, values: number[], more: object = {}): object => ({
  podFailurePolicy: { rules: [{ action: "Count", onExitCodes: { operator, values, ...more } }] },
});
const policyPath = "spec.podFailurePolicy.rules[0]";
const success = (...rules: object[]): object => ({ ...indexed, successPolicy: { rules } });

test.each<[string, object, string]>([
  [
    "negative numbers",
    { parallelism: -1, backoffLimit: -3 },
    "[spec.parallelism: Invalid value: -1: must be greater than or equal to 0, spec.backoffLimit: Invalid value: -3: must be greater than or equal to 0]",
  ],
  [
    "Indexed without completions",
    { completionMode: "Indexed", parallelism: 1 },
    "spec.completions: Required value: when completion mode is Indexed",
  ],
  [
    "another mode",
    { completionMode: "Odd" },
    'spec.completionMode: Unsupported value: "Odd": supported values: "NonIndexed", "Indexed"',
  ],
  [
    "too many pods at once",
    { ...indexed, parallelism: 100001 },
    "spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed",
  ],
  [
    "a limit per index without indexes",
    { backoffLimitPerIndex: 1 },
    "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode",
  ],
  [
    "failed indexes without a limit per index",
    { ...indexed, maxFailedIndexes: 1 },
    "spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified",
  ],
  [
    "failed indexes without indexes",
    { maxFailedIndexes: 2 },
    "[spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified, spec.maxFailedIndexes: Invalid value: 2: requires indexed completion mode]",
  ],
  [
    "more failed indexes than indexes",
    { ...indexed, backoffLimitPerIndex: 1, maxFailedIndexes: 6 },
    "spec.maxFailedIndexes: Invalid value: 6: must be less than or equal to completions",
  ],
  [
    "many indexes with retries each",
    { completionMode: "Indexed", completions: 100001, parallelism: 10001, backoffLimitPerIndex: 1 },
    "[spec.maxFailedIndexes: Required value: must be specified when completions is above 100000, spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index]",
  ],
  [
    "managedBy that is no path",
    { managedBy: "foo" },
    'spec.managedBy: Invalid value: "foo": must be a domain-prefixed path (such as "acme.io/foo")',
  ],
  [
    "managedBy with a bad path",
    { managedBy: "example.com/a b" },
    `spec.managedBy: Invalid value: "a b": Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')`,
  ],
  [
    "a long managedBy",
    { managedBy: `example.com/${"a".repeat(70)}` },
    "spec.managedBy: Too long: may not be more than 63 bytes",
  ],
  [
    "another replacement policy",
    { podReplacementPolicy: "Odd" },
    'spec.podReplacementPolicy: Unsupported value: "Odd": supported values: "Failed", "TerminatingOrFailed"',
  ],
  [
    "exit code 0 with In",
    exitCodes("In", [0]),
    `${policyPath}.onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator`,
  ],
  [
    "unordered, repeated exit codes",
    exitCodes("NotIn", [2, 1, 1]),
    `[${policyPath}.onExitCodes.values[2]: Duplicate value: 1, ${policyPath}.onExitCodes.values: Invalid value: [2,1,1]: must be ordered]`,
  ],
  [
    "no exit codes",
    exitCodes("In", []),
    `${policyPath}.onExitCodes.values: Invalid value: []: at least one value is required`,
  ],
  [
    "an unknown operator",
    exitCodes("Like", [1]),
    `${policyPath}.onExitCodes.operator: Unsupported value: "Like": supported values: "In", "NotIn"`,
  ],
  [
    "an unknown container",
    exitCodes("In", [1], { containerName: "x" }),
    `${policyPath}.onExitCodes.containerName: Invalid value: "x": must be one of the container or initContainer names in the pod template`,
  ],
  [
    "a rule without requirement",
    { podFailurePolicy: { rules: [{ action: "FailJob" }] } },
    `${policyPath}: Invalid value: specifying one of OnExitCodes and OnPodConditions is required`,
  ],
  [
    "a rule with both requirements",
    {
      podFailurePolicy: {
        rules: [
          {
            action: "Ignore",
            onExitCodes: { operator: "In", values: [1] },
            onPodConditions: [{ type: "X", status: "True" }],
          },
        ],
      },
    },
    `${policyPath}: Invalid value: specifying both OnExitCodes and OnPodConditions is not supported`,
  ],
  [
    "no action",
    { podFailurePolicy: { rules: [{ action: "", onExitCodes: { operator: "In", values: [1] } }] } },
    `${policyPath}.action: Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]`,
  ],
  [
    "FailIndex without a limit per index",
    { podFailurePolicy: { rules: [{ action: "FailIndex", onExitCodes: { operator: "In", values: [1] } }] } },
    `${policyPath}.action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set`,
  ],
  [
    "a nameless condition",
    { podFailurePolicy: { rules: [{ action: "Ignore", onPodConditions: [{ type: "", status: "Odd" }] }] } },
    `[${policyPath}.onPodConditions[0].type: Invalid value: "": name part must be non-empty, ${policyPath}.onPodConditions[0].type: Invalid value: "": ${QUALIFIED}, ${policyPath}.onPodConditions[0].status: Unsupported value: "Odd": supported values: "False", "True", "Unknown"]`,
  ],
  [
    "21 rules",
    {
      podFailurePolicy: {
        rules: Array.from({ length: 21 }, () => ({ action: "Count", onExitCodes: { operator: "In", values: [1] } })),
      },
    },
    "spec.podFailurePolicy.rules: Too many: 21: must have at most 20 items",
  ],
  [
    "a success policy without indexes",
    { successPolicy: { rules: [{ succeededCount: 1 }] } },
    'spec.successPolicy: Invalid value: {"Rules":[{"SucceededIndexes":null,"SucceededCount":1}]}: requires indexed completion mode',
  ],
  [
    "no success rules",
    success(),
    "spec.successPolicy.rules: Required value: at least one rules must be specified when the successPolicy is specified",
  ],
  [
    "an empty success rule",
    success({}),
    "spec.successPolicy.rules[0]: Required value: at least one of succeededCount or succeededIndexes must be specified",
  ],
  [
    "overlapping success indexes",
    success({ succeededIndexes: "0-2,1" }),
    'spec.successPolicy.rules[0].succeededIndexes: Invalid value: "0-2,1": error parsing succeededIndexes: non-increasing order, previous: 2, current: 1',
  ],
  [
    "a success index out of range",
    success({ succeededIndexes: "9" }),
    'spec.successPolicy.rules[0].succeededIndexes: Invalid value: "9": error parsing succeededIndexes: too large index: "9"',
  ],
  [
    "more successes than completions",
    success({ succeededCount: 9 }),
    "spec.successPolicy.rules[0].succeededCount: Invalid value: 9: must be less than or equal to 5 (the number of specified completions)",
  ],
  [
    "more successes than indexes",
    success({ succeededIndexes: "0-1", succeededCount: 3 }),
    "spec.successPolicy.rules[0].succeededCount: Invalid value: 3: must be less than or equal to 2 (the number of indexes in the specified succeededIndexes field)",
  ],
])("%s are refused", (_, spec, message) => {
  expect(rejected(job(spec))).toBe(message);
});

test.each<[string, object, object, string]>([
  [
    "missing",
    { restartPolicy: undefined },
    {},
    'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
  ],
  [
    "Always",
    { restartPolicy: "Always" },
    {},
    'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
  ],
  [
    "unknown",
    { restartPolicy: "Odd" },
    {},
    '[spec.template.spec.restartPolicy: Unsupported value: "Odd": supported values: "Always", "OnFailure", "Never", spec.template.spec.restartPolicy: Unsupported value: "Odd": supported values: "OnFailure", "Never"]',
  ],
  [
    "OnFailure with a failure policy",
    { restartPolicy: "OnFailure" },
    exitCodes("In", [1]),
    'spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified',
  ],
])("a restart policy that is %s is refused", (_, podFields, spec, message) => {
  expect(rejected(job(spec, podFields))).toBe(message);
});

test("the template's labels and annotations are reported without metadata in their path", () => {
  const message = rejected(
    job({}, {}, { labels: { "bad key": "x" }, annotations: { "Bad Key": "x" } }, { labels: { own: "x" } }),
  );
  expect(message).toBe(
    `[spec.template.labels: Invalid value: "bad key": ${QUALIFIED}, spec.template.annotations: Invalid value: "Bad Key": ${QUALIFIED}]`,
  );
});

test("the last index must still make a host name", () => {
  const name = "n".repeat(62);
  const message = rejected(job({ completionMode: "Indexed", completions: 11 }, {}, undefined, { name }));
  expect(message).toBe(
    `metadata.name: Invalid value: "${name}": will not able to create pod with invalid DNS label: ${name}-10`,
  );
});

test("a name that is no DNS label is warned about", () => {
  expect(create(jobStrategy, job({}, {}, undefined, { name: "a.b" }))).toMatchObject({
    message: "",
    warnings: [
      "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
    ],
  });
});

test("an update reports a spec error twice, and the message contains it once", () => {
  const { message, errors } = update(jobStrategy, created(job()), ({ spec }) => (spec!.parallelism = -1));
  expect(message).toBe("spec.parallelism: Invalid value: -1: must be greater than or equal to 0");
  expect(causes(errors)).toEqual(
    Array(2).fill("FieldValueInvalid spec.parallelism Invalid value: -1: must be greater than or equal to 0"),
  );
});

test.each<[string, object, (spec: NonNullable<Job["spec"]>) => void, string]>([
  [
    "completions",
    { completions: 2 },
    (spec) => (spec.completions = 3),
    "spec.completions: Invalid value: 3: field is immutable",
  ],
  [
    "completion mode",
    { completions: 2 },
    (spec) => (spec.completionMode = "Indexed"),
    'spec.completionMode: Invalid value: "Indexed": field is immutable',
  ],
  [
    "managedBy",
    { managedBy: "a.io/b" },
    (spec) => (spec.managedBy = "a.io/c"),
    'spec.managedBy: Invalid value: "a.io/c": field is immutable',
  ],
  [
    "completions and parallelism together",
    { ...indexed, parallelism: 3 },
    (spec) => Object.assign(spec, { completions: 6, parallelism: 6 }),
    "",
  ],
  [
    "completions alone",
    { ...indexed, parallelism: 3 },
    (spec) => (spec.completions = 6),
    "spec.completions: Invalid value: 6: can only be modified in tandem with spec.parallelism",
  ],
  [
    "what may change",
    {},
    (spec) =>
      Object.assign(spec, {
        parallelism: 9,
        suspend: true,
        backoffLimit: 1,
        ttlSecondsAfterFinished: 3,
        podReplacementPolicy: "Failed",
      }),
    "",
  ],
])("an update of %s is judged", (_, spec, change, message) => {
  expect(update(jobStrategy, created(job(spec)), (object) => change(object.spec!)).message).toBe(message);
});

const image = ({ spec }: Job): void => void (spec!.template.spec!.containers[0]!.image = "other");

test("the template of a running Job is immutable, and the error shows it as upstream's internal type", () => {
  const running = created(job());
  running.status = { startTime: "2026-01-01T00:00:00Z", active: 1 };
  const { message } = update(jobStrategy, running, image);
  expect(message).toContain('spec.template: Invalid value: {"labels":{"batch.kubernetes.io/controller-uid":');
  expect(message).toContain(
    '"Spec":{"Volumes":null,"InitContainers":null,"Containers":[{"Name":"c","Image":"other","Command":null',
  );
  expect(message).toMatch(/"SchedulingGroup":null}}: field is immutable$/);
});

test("a suspended Job without pods may change scheduling fields and resources, but no other template fields", () => {
  const suspended = created(job({ suspend: true }));
  const where = ({ spec }: Job): void => {
    const { template } = spec!;
    template.metadata!.labels = { ...template.metadata!.labels, extra: "x" };
    template.metadata!.annotations = { a: "b" };
    Object.assign(template.spec!, { nodeSelector: { a: "b" }, tolerations: [{ key: "k", operator: "Exists" }] });
    template.spec!.affinity = { nodeAffinity: {} };
    template.spec!.containers[0]!.resources = { requests: { cpu: "1" } };
  };
  expect(update(jobStrategy, suspended, where).message).toBe("");
  expect(
    update(jobStrategy, suspended, (object) => {
      where(object);
      object.spec!.suspend = false;
    }).message,
  ).toBe("");
  expect(update(jobStrategy, suspended, image).message).toMatch(
    /^spec\.template\.spec: Invalid value: \{"Volumes".*: field is immutable$/,
  );
  const active: Job = { ...suspended, status: { active: 1 } };
  expect(update(jobStrategy, active, where).message).toMatch(/^spec\.template: Invalid value: /);
});

test("an update keeps the stored status and counts a change of the spec, not of the metadata", () => {
  const stored = { ...created(job()), status: { active: 1 } };
  const { object } = update(jobStrategy, stored, (next) => (next.status = { active: 9 }));
  expect(object.status).toEqual({ active: 1 });
  expect(jobStrategy.bumpsGeneration!(object, stored)).toBe(false);
  const scaled = update(jobStrategy, stored, ({ spec }) => (spec!.parallelism = 2)).object;
  expect(jobStrategy.bumpsGeneration!(scaled, stored)).toBe(true);
});

const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1) - seconds * 1000).toISOString();
const conditions = (...types: string[]): { type: string; status: string }[] =>
  types.map((type) => ({ type, status: "True" }));

test.each<[object, object, object, object]>([
  [
    { completions: 3 },
    { startTime: at(65), succeeded: 1 },
    {},
    { Status: "Running", Completions: "1/3", Duration: "65s" },
  ],
  [{ parallelism: 4 }, {}, {}, { Completions: "0/1 of 4", Duration: "" }],
  [
    {},
    { startTime: at(65), conditions: conditions("FailureTarget", "Failed") },
    {},
    { Status: "Failed", Duration: "65s" },
  ],
  [{ suspend: true }, { conditions: conditions("Suspended") }, {}, { Status: "Suspended", Duration: "" }],
  [
    {},
    { startTime: at(500), completionTime: at(375), conditions: conditions("SuccessCriteriaMet", "Complete") },
    {},
    { Status: "Complete", Duration: "2m5s" },
  ],
  [{}, {}, { deletionTimestamp: at(0) }, { Status: "Terminating" }],
  [{}, { conditions: conditions("Complete") }, { deletionTimestamp: at(0) }, { Status: "Complete" }],
])("a Job of %j with status %j is printed", (spec, status, metadata, cells) => {
  const object: Job = { ...created(job(spec)), status };
  object.metadata = { ...object.metadata, creationTimestamp: at(10), ...metadata };
  expect(row(jobStrategy, object)).toMatchObject({
    Name: "j",
    Age: "10s",
    Containers: "c",
    Images: "busybox",
    Selector: `batch.kubernetes.io/controller-uid=${UID}`,
    ...cells,
  });
});
