import type { Pod } from "@kubewright/api";
import { expect, test } from "vitest";

import { create, NOW_MS, row, update, updateStatus } from "../../../test/strategy-calls.js";
import { podStrategy } from "./strategy.js";

const container = (name = "c", more: object = {}): object => ({ name, image: "busybox", ...more });

function pod(spec: object = {}, name = "p"): object {
  return { metadata: { name }, spec: { containers: [container()], ...spec } };
}

const one = (fields: object): object => pod({ containers: [container("c", fields)] });

function created(manifest: object): Pod {
  const { object, message } = create(podStrategy, manifest);
  expect(message).toBe("");
  return object;
}

test("a minimal pod gets its defaults and an initial status", () => {
  const { metadata, spec, status } = created({ ...pod(), status: { phase: "Running" } });
  expect(spec).toEqual({
    containers: [
      {
        ...container(),
        imagePullPolicy: "Always",
        terminationMessagePath: "/dev/termination-log",
        terminationMessagePolicy: "File",
      },
    ],
    dnsPolicy: "ClusterFirst",
    enableServiceLinks: true,
    restartPolicy: "Always",
    schedulerName: "default-scheduler",
    securityContext: {},
    terminationGracePeriodSeconds: 30,
  });
  expect([metadata.generation, status]).toEqual([1, { phase: "Pending", qosClass: "BestEffort" }]);
});

test.each([
  ["busybox", "Always"],
  ["busybox:latest", "Always"],
  ["busybox:1", "IfNotPresent"],
  ["host:5000/busybox", "Always"],
  ["busybox@sha256:0123", "IfNotPresent"],
])("the image %s is pulled %s", (image, policy) => {
  expect(created(one({ image })).spec?.containers[0]?.imagePullPolicy).toBe(policy);
});

test("requests default to limits, and both decide the QoS class", () => {
  const guaranteed = created(one({ resources: { limits: { cpu: "500m", memory: "64Mi" } } }));
  expect(guaranteed.spec?.containers[0]?.resources?.requests).toEqual({ cpu: "500m", memory: "64Mi" });
  expect(guaranteed.status?.qosClass).toBe("Guaranteed");
  expect(created(one({ resources: { requests: { cpu: "1" } } })).status?.qosClass).toBe("Burstable");
});

test("parts of a thousandth are rounded up", () => {
  expect(created(one({ resources: { requests: { cpu: "100u" } } })).spec?.containers[0]?.resources?.requests).toEqual({
    cpu: "1m",
  });
});

test("scheduling gates are shown as a condition", () => {
  expect(created(pod({ schedulingGates: [{ name: "example.com/gate" }] })).status?.conditions).toMatchObject([
    { type: "PodScheduled", status: "False", reason: "SchedulingGated", lastTransitionTime: "2026-01-01T00:00:00Z" },
  ]);
});

const c = "spec.containers[0]";
const LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

test.each<[object, string]>([
  [pod({ containers: [] }), "spec.containers: Required value"],
  [pod({ containers: [{}] }), `[${c}.name: Required value, ${c}.image: Required value]`],
  [pod({ containers: [container("Bad_Name")] }), `${c}.name: Invalid value: "Bad_Name": ${LABEL}`],
  [pod({ containers: [container("a"), container("a")] }), 'spec.containers[1].name: Duplicate value: "a"'],
  [
    pod({ containers: [container("a")], initContainers: [container("a")] }),
    'spec.initContainers[0].name: Duplicate value: "a"',
  ],
  [one({ image: " x " }), `${c}.image: Invalid value: " x ": must not have leading or trailing whitespace`],
  [
    one({ imagePullPolicy: "Odd" }),
    `${c}.imagePullPolicy: Unsupported value: "Odd": supported values: "Always", "IfNotPresent", "Never"`,
  ],
  [one({ ports: [{ containerPort: 0 }] }), `${c}.ports[0].containerPort: Required value`],
  [
    one({ ports: [{ containerPort: 80, name: "Bad_Port" }] }),
    `${c}.ports[0].name: Invalid value: "Bad_Port": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)`,
  ],
  [
    one({
      ports: [
        { containerPort: 1, hostPort: 80 },
        { containerPort: 2, hostPort: 80 },
      ],
    }),
    `${c}.ports[1].hostPort: Duplicate value: "TCP//80"`,
  ],
  [
    one({ env: [{ name: "a=b" }] }),
    `${c}.env[0].name: Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters other than '='`,
  ],
  [
    one({ env: [{ name: "A", valueFrom: {} }] }),
    `${c}.env[0].valueFrom: Invalid value: "": must specify one of: \`fieldRef\`, \`resourceFieldRef\`, \`configMapKeyRef\`, \`secretKeyRef\` or \`fileKeyRef\``,
  ],
  [one({ volumeMounts: [{ name: "x", mountPath: "/x" }] }), `${c}.volumeMounts[0].name: Not found: "x"`],
  [
    pod({ volumes: [{ name: "v", emptyDir: {}, hostPath: { path: "/x" } }] }),
    "spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type",
  ],
  [pod({ volumes: [{ name: "v" }, { name: "v" }] }), 'spec.volumes[1].name: Duplicate value: "v"'],
  [
    one({ resources: { requests: { cpu: "2" }, limits: { cpu: "1" } } }),
    `${c}.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1`,
  ],
  [
    one({ resources: { requests: { "example.com/x": "1" } } }),
    `${c}.resources.limits: Required value: Limit must be set for non overcommitable resources`,
  ],
  [
    pod({ restartPolicy: "Odd" }),
    'spec.restartPolicy: Unsupported value: "Odd": supported values: "Always", "OnFailure", "Never"',
  ],
  [
    pod({ activeDeadlineSeconds: 0 }),
    "spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive",
  ],
  [
    pod({ tolerations: [{ operator: "Equal" }] }),
    'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
  ],
  [
    pod({ initContainers: [container("i", { livenessProbe: { exec: { command: ["x"] } } })] }),
    "spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always",
  ],
  [one({ livenessProbe: {} }), `${c}.livenessProbe: Required value: must specify a handler type`],
  [
    one({ livenessProbe: { exec: { command: ["x"] }, tcpSocket: { port: 80 } } }),
    `${c}.livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type`,
  ],
  [
    pod({ nodeName: "n", schedulingGates: [{ name: "a.io/b" }] }),
    "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared",
  ],
  [pod({ ephemeralContainers: [container("e")] }), "spec.ephemeralContainers: Forbidden: cannot be set on create"],
  [
    one({ securityContext: { allowPrivilegeEscalation: false, privileged: true } }),
    `${c}.securityContext: Invalid value: {"Capabilities":null,"Privileged":true,"SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,"AppArmorProfile":null}: cannot set \`allowPrivilegeEscalation\` to false and \`privileged\` to true`,
  ],
])("the pod %j is refused", (manifest, message) => {
  expect(create(podStrategy, manifest).message).toBe(message);
});

test("surprising fields produce warnings", () => {
  const manifest = pod(
    {
      containers: [
        container("c", { env: [{ name: "A" }, { name: "A" }], resources: { requests: { memory: "100m" } } }),
      ],
      nodeSelector: { "beta.kubernetes.io/arch": "x" },
    },
    "a.b",
  );
  expect(create(podStrategy, manifest).warnings).toEqual([
    "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
    'spec.nodeSelector[beta.kubernetes.io/arch]: deprecated since v1.14; use "kubernetes.io/arch" instead',
    'spec.containers[0].resources.requests[memory]: fractional byte value "100m" is invalid, must be an integer',
    'spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply',
  ]);
});

type Change = (spec: NonNullable<Pod["spec"]>) => void;
const deadline = "spec.activeDeadlineSeconds: Invalid value: ";

test.each<[string, object, Change, string]>([
  ["another image", {}, ({ containers }) => (containers[0]!.image = "other"), ""],
  [
    "one more container",
    {},
    ({ containers }) => containers.push({ name: "d", image: "x" }),
    "spec.containers: Forbidden: pod updates may not add or remove containers",
  ],
  [
    "a later deadline",
    { activeDeadlineSeconds: 10 },
    (spec) => (spec.activeDeadlineSeconds = 20),
    `${deadline}20: must be less than or equal to previous value`,
  ],
  ["an earlier deadline", { activeDeadlineSeconds: 20 }, (spec) => (spec.activeDeadlineSeconds = 10), ""],
  [
    "no deadline any more",
    { activeDeadlineSeconds: 20 },
    (spec) => delete spec.activeDeadlineSeconds,
    `${deadline}null: must not update from a positive integer to nil value`,
  ],
  ["one more toleration", {}, (spec) => (spec.tolerations = [{ key: "a", operator: "Exists" }]), ""],
  [
    "another toleration",
    { tolerations: [{ key: "a", operator: "Exists" }] },
    (spec) => (spec.tolerations = []),
    "spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds",
  ],
  ["one gate less", { schedulingGates: [{ name: "a.io/b" }] }, (spec) => delete spec.schedulingGates, ""],
  [
    "a new gate",
    { schedulingGates: [{ name: "a.io/b" }] },
    (spec) => (spec.schedulingGates = [{ name: "a.io/c" }]),
    "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'a.io/c'",
  ],
  [
    "fewer nodes for a gated pod",
    { schedulingGates: [{ name: "a.io/b" }] },
    (spec) => (spec.nodeSelector = { a: "b" }),
    "",
  ],
])("an update of %s is validated", (_, spec, change, message) => {
  expect(update(podStrategy, created(pod(spec)), (object) => change(object.spec!)).message).toBe(message);
});

test("any other change is refused, and the message shows it", () => {
  const { message } = update(podStrategy, created(pod()), ({ spec }) => (spec!.containers[0]!.command = ["x"]));
  expect(message).toMatch(
    /^spec: Forbidden: pod updates may not change fields other than `spec\.containers\[\*\]\.image`,/,
  );
  expect(message).toContain('"command":["x"]');
});

const ended = {
  containerStatuses: [
    { name: "c", image: "x", imageID: "", ready: false, restartCount: 0, state: { terminated: { exitCode: 1 } } },
  ],
};
const running = { containerStatuses: [{ ...ended.containerStatuses[0]!, state: { running: {} } }] };

test.each<[string, object, object, object, string]>([
  [
    "an ended container that runs again",
    { restartPolicy: "Never" },
    ended,
    running,
    "status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state",
  ],
  ["a restarted container", { restartPolicy: "OnFailure" }, ended, running, ""],
  ["any phase after any other", {}, { phase: "Succeeded" }, { phase: "Running" }, ""],
  [
    "another quality of service",
    {},
    { qosClass: "BestEffort" },
    { qosClass: "Guaranteed" },
    'status.qosClass: Invalid value: "Guaranteed": field is immutable',
  ],
  [
    "a misnamed condition",
    {},
    {},
    { conditions: [{ type: "Bad Type", status: "True" }] },
    `status.conditions[0].Type: Invalid value: "Bad Type": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
  ],
  [
    "no address",
    {},
    {},
    { podIP: "nonsense" },
    'status.podIPs[0]: Invalid value: "nonsense": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
  ],
  [
    "a nomination of a bound pod",
    { nodeName: "n" },
    {},
    { nominatedNodeName: "m" },
    "status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node",
  ],
])("a status update of %s is validated", (_, spec, before, after, message) => {
  const stored: Pod = { ...created(pod(spec)), status: before };
  expect(updateStatus(podStrategy, stored, (object) => (object.status = after)).message).toBe(message);
});

test("a status update keeps ownerReferences and observedGeneration, and may change labels", () => {
  const stored = created(pod());
  stored.status = { observedGeneration: 2, qosClass: "BestEffort" };
  stored.metadata.ownerReferences = [{ apiVersion: "v1", kind: "X", name: "x", uid: "u" }];
  const { object } = updateStatus(podStrategy, stored, (next) => {
    delete next.metadata.ownerReferences;
    next.metadata.labels = { a: "b" };
    next.status = { phase: "Running", podIP: "10.0.0.1" };
  });
  expect(object.metadata).toMatchObject({ labels: { a: "b" }, ownerReferences: [{ name: "x" }] });
  expect(object.status).toEqual({
    phase: "Running",
    podIP: "10.0.0.1",
    podIPs: [{ ip: "10.0.0.1" }],
    observedGeneration: 2,
    qosClass: "BestEffort",
  });
});

test("a pod gets its grace period only while it is on a node and has not ended", () => {
  const period = (spec: object, status: object, requested?: number): number =>
    podStrategy.gracePeriodSeconds!({ ...created(pod(spec)), status }, requested);
  expect(period({}, {}, 9)).toBe(0);
  expect(period({ nodeName: "n" }, {})).toBe(30);
  expect(period({ nodeName: "n" }, {}, 9)).toBe(9);
  expect(period({ nodeName: "n" }, {}, -1)).toBe(1);
  expect(period({ nodeName: "n" }, { phase: "Failed" }, 9)).toBe(0);
});

const terminated = (exitCode: number, more: object = {}): object => ({
  state: { terminated: { exitCode, ...more } },
  restartCount: 0,
});
const ready = (status = "True"): object => ({ conditions: [{ type: "Ready", status }] });
const runs = { state: { running: {} }, ready: true, restartCount: 0 };
const named = (...statuses: object[]): object => ({
  containerStatuses: statuses.map((status, index) => ({ name: `c${index}`, ...status })),
});
const inits = (...statuses: object[]): object => ({
  initContainerStatuses: statuses.map((status, index) => ({ name: `i${index}`, restartCount: 0, ...status })),
});
const two = { containers: [container("c0"), container("c1")] };
const twoInits = { initContainers: [container("i0"), container("i1")] };

test.each<[object, object, object]>([
  [{}, { phase: "Pending" }, { Ready: "0/1", Status: "Pending", Restarts: "0", IP: "<none>", Node: "<none>" }],
  [{}, named(terminated(0, { reason: "Completed" })), { Ready: "0/1", Status: "Completed" }],
  [{}, named(terminated(1, { reason: "Error" })), { Status: "Error" }],
  [{}, named(terminated(3)), { Status: "ExitCode:3" }],
  [{}, named(terminated(137, { signal: 9 })), { Status: "Signal:9" }],
  [two, { ...named(terminated(0, { reason: "Completed" }), runs), ...ready() }, { Ready: "1/2", Status: "Running" }],
  [
    two,
    { ...named(terminated(0, { reason: "Completed" }), runs), ...ready("False") },
    { Ready: "1/2", Status: "NotReady" },
  ],
  [two, named(terminated(0, { reason: "Completed" }), terminated(1, { reason: "Error" })), { Status: "Error" }],
  [twoInits, inits({ state: { running: {} } }), { Status: "Init:0/2" }],
  [twoInits, inits(terminated(0), { state: { running: {} } }), { Status: "Init:1/2" }],
  [twoInits, inits(terminated(1, { reason: "Error" })), { Status: "Init:Error" }],
  [twoInits, inits({ state: { waiting: { reason: "CrashLoopBackOff" } } }), { Status: "Init:CrashLoopBackOff" }],
  [
    { initContainers: [container("i0", { restartPolicy: "Always" })] },
    { ...inits({ ...runs, started: true, restartCount: 2 }), ...named(runs) },
    { Ready: "2/2", Restarts: "2" },
  ],
  [{}, named({ ...runs, restartCount: 2 }), { Restarts: "2" }],
  [
    {},
    named({ ...runs, restartCount: 2, lastState: { terminated: { exitCode: 1, finishedAt: "2025-12-31T23:55:00Z" } } }),
    { Restarts: "2 (5m ago)" },
  ],
  [{}, { phase: "Failed", reason: "Evicted" }, { Status: "Evicted" }],
  [
    { schedulingGates: [{ name: "a.io/b" }] },
    { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }] },
    { Status: "SchedulingGated" },
  ],
  [
    { nodeName: "n", readinessGates: [{ conditionType: "a" }, { conditionType: "b" }] },
    { podIPs: [{ ip: "10.0.0.1" }], conditions: [{ type: "a", status: "True" }] },
    { IP: "10.0.0.1", Node: "n", "Readiness Gates": "1/2" },
  ],
])("a pod with %j and status %j is printed", (spec, status, cells) => {
  expect(row(podStrategy, { ...created(pod(spec)), status }, NOW_MS)).toMatchObject(cells);
});

test.each([
  [{ phase: "Running" }, "Terminating"],
  [{ phase: "Failed" }, "Failed"],
  [{ phase: "Running", reason: "NodeLost" }, "Unknown"],
])("a pod that is being deleted with status %j shows %s", (status, text) => {
  const object: Pod = { ...created(pod()), status };
  object.metadata = { ...object.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
  expect(row(podStrategy, object)["Status"]).toBe(text);
});

test("only a pod that has ended is marked completed", () => {
  const mark = (phase: string): unknown =>
    podStrategy.printer!.rowConditions!({ ...created(pod()), status: { phase } });
  expect(mark("Succeeded")).toEqual([
    { type: "Completed", status: "True", reason: "Succeeded", message: "The pod has completed successfully." },
  ]);
  expect(mark("Failed")).toMatchObject([{ reason: "Failed", message: "The pod failed." }]);
  expect(mark("Running")).toEqual([]);
});
