import { expect, test } from "vitest";

import { type MemoryIoOptions, type CommandResult, kubewright } from "../../test/memory-io.js";

const job = (name: string, more = "", meta = ""): string => `apiVersion: batch/v1
kind: Job
metadata:
  name: ${name}
${meta}spec:
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: c
          image: busybox
${more}`;

async function run(text: string, args: readonly string[] = [], options: MemoryIoOptions = {}): Promise<CommandResult> {
  return kubewright(["run", "f.yaml", "--for", "1h", ...args], { files: { "f.yaml": text }, ...options });
}

test("an unknown field is refused with its place and what was meant, as kubectl apply refuses it", async () => {
  const { code, stderr, stdout } = await run(`${job("a", "          imagePullPolice: Always\n")}---\n${job("b")}`);
  expect(code).toBe(0);
  expect(stderr).toBe(
    'kubewright: f.yaml:12:11: Job a: spec.template.spec.containers[0].imagePullPolice: unknown field; did you mean "imagePullPolicy"?\n',
  );
  expect(stdout).toContain("Job default/b");
  expect(stdout).toContain("1 run, 1 complete");
});

test("--validate=warn prints an unknown field and continues", async () => {
  const { code, stderr, stdout } = await run(job("a", "  backofLimit: 3\n").replace("  backof", "  backof"), [
    "--validate",
    "warn",
  ]);
  expect([code, stderr]).toEqual([
    0,
    'kubewright: f.yaml:12:3: Job a: spec.backofLimit: unknown field; did you mean "backoffLimit"?\n',
  ]);
  expect(stdout).toContain("1 run, 1 complete");
});

test("every field that the API server refuses is a line with its place", async () => {
  const { code, stderr } = await run(job("a").replace("Never", "Always").replace("image: busybox", "image: ''"));
  expect(code).toBe(2);
  expect(stderr.trimEnd().split("\n")).toEqual([
    expect.stringMatching(
      /^kubewright: f\.yaml:11:18: Job a: spec\.template\.spec\.containers\[0\]\.image: Required value/,
    ),
    expect.stringMatching(/^kubewright: f\.yaml:8:22: Job a: spec\.template\.spec\.restartPolicy: /),
  ]);
});

test("a value of the wrong type is described in plain words, with its index in the list", async () => {
  const env = "          env:\n            - { name: A, value: x }\n            - { name: B, value: 3 }\n";
  const { stderr } = await run(job("a", env));
  expect(stderr).toBe(
    "kubewright: f.yaml:14:33: Job a: spec.template.spec.containers[0].env[1].value: must be text (in quotes), not a number\n",
  );
});

test("kinds that are not simulated are passed over with one line, and refused with --strict", async () => {
  const others = ["Deployment", "Deployment", "StatefulSet"]
    .map((kind, index) => `---\napiVersion: apps.example.com/v1\nkind: ${kind}\nmetadata: { name: x${index} }\n`)
    .join("");
  const simulated = await run(`${job("a")}${others}`);
  expect([simulated.code, simulated.stderr]).toEqual([
    0,
    "kubewright: ignored: 2 Deployments, 1 StatefulSet (not simulated)\n",
  ]);
  const refused = await run(`${job("a")}${others}`, ["--strict"]);
  expect(refused.code).toBe(2);
  expect(refused.stderr.split("\n")[0]).toBe(
    "kubewright: f.yaml:14:7: Deployment x0: apps.example.com/v1 is not simulated",
  );
  expect(refused.stdout).toContain("Job default/a");
});

test.each([
  ["v1", "CronJob", "there is no CronJob in v1; write apiVersion: batch/v1"],
  ["batch/v1", "Cronjob", "there is no kind Cronjob in batch/v1; did you mean CronJob?"],
  ["batch/v2", "Job", "there is no Job in batch/v2; write apiVersion: batch/v1"],
])("%s %s is a mistake with its fix, and not a kind of another API group", async (apiVersion, kind, message) => {
  const { code, stderr } = await run(
    `${job("a")}---\napiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: { name: x }\n`,
  );
  expect(code).toBe(0);
  expect(stderr).toBe(`kubewright: f.yaml:13:13: ${kind} x: ${message}\n`);
});

test("an object of a removed beta version runs as its stable version, with a warning", async () => {
  const cronJob = `apiVersion: batch/v1beta1
kind: CronJob
metadata: { name: old }
spec:
  schedule: "0,30 * * * *"
  jobTemplate: { spec: { template: { spec: { restartPolicy: Never, containers: [{ name: c, image: i }] } } } }
`;
  const { code, stderr, stdout } = await run(cronJob);
  expect([code, stderr]).toEqual([
    0,
    "kubewright: f.yaml:1:13: CronJob old: runs as batch/v1: batch/v1beta1 was removed in Kubernetes 1.25; write apiVersion: batch/v1, the fields are the same\n",
  ]);
  expect(stdout).toContain("CronJob default/old");
});

test("a Job of another API group is no mistake", async () => {
  const text = `${job("a")}---\napiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: { name: x }\n`;
  expect((await run(text)).code).toBe(0);
});

test("namespaces are created before their objects, in any order, and only once", async () => {
  const namespace = "---\napiVersion: v1\nkind: Namespace\nmetadata: { name: team, labels: { a: b } }\n";
  const { code, stderr, stdout } = await run(
    `${job("a", "", "  namespace: team\n")}${namespace}---\napiVersion: v1\nkind: Namespace\nmetadata: { name: default }\n`,
  );
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("Job team/a");
});

test("a resource is created after its definition, in any order", async () => {
  const definition = `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: things.example.com }
spec:
  group: example.com
  names: { kind: Thing, plural: things }
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema: { openAPIV3Schema: { type: object, properties: { spec: { type: object, properties: { size: { type: integer } } } } } }
`;
  const thing = (spec: string): string =>
    `apiVersion: example.com/v1\nkind: Thing\nmetadata: { name: x }\nspec: { ${spec} }\n---\n`;
  expect(await run(`${thing("size: 1")}${job("a")}${definition}`)).toMatchObject({ code: 0, stderr: "" });
  const wrong = await run(`${thing("sise: 1")}${job("a")}${definition}`);
  expect(wrong.stderr).toBe(
    'kubewright: f.yaml:4:9: Thing x: spec.sise: unknown field; did you mean "size"? (the run does not need it)\n',
  );
});

test("with a mistake the files named by --json and --html stay as they were, and the status is 2", async () => {
  const broken = `${job("a")}---\nkind: LimitRange\nmetadata: { name: b }\n`;
  const { code, stdout, written } = await run(broken, ["--json", "trace.jsonl"]);
  expect([code, written["trace.jsonl"]]).toEqual([2, undefined]);
  expect(stdout).toContain("1 run, 1 complete");
});

const CLAIM = "spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }\n";
const DEPLOYMENT = `spec:
  selector: { matchLabels: { app: x } }
  template:
    metadata: { labels: { app: x } }
    spec: { containers: [{ name: c, image: i }] }
`;

test("kinds without a controller are created, counted as passed over, and refused with --strict", async () => {
  const idle =
    object("apps/v1", "Deployment", "d", DEPLOYMENT) +
    object("v1", "PersistentVolumeClaim", "c", CLAIM) +
    object("example.com/v1", "Thing", "t");
  const simulated = await run(`${job("a")}${idle}`);
  expect([simulated.code, simulated.stderr]).toEqual([
    0,
    "kubewright: ignored: 1 Deployment, 1 PersistentVolumeClaim, 1 Thing (not simulated)\n",
  ]);
  const refused = await run(`${job("a")}${idle}`, ["--strict"]);
  expect(refused.code).toBe(2);
  expect(refused.stderr.split("\n").slice(0, 3)).toEqual([
    "kubewright: f.yaml:14:7: Deployment d: no controller here acts on it",
    expect.stringMatching(/: PersistentVolumeClaim c: no controller here acts on it$/),
    expect.stringMatching(/: Thing t: example\.com\/v1 is not simulated$/),
  ]);
});

test("mistakes in a kind without a controller are reported, and change no status", async () => {
  const wrong = DEPLOYMENT.replace("labels: { app: x }", "labels: { app: other }");
  const { code, stderr } = await run(`${job("a")}${object("apps/v1", "Deployment", "d", wrong)}`);
  expect(code).toBe(0);
  expect(stderr).toMatch(
    /: Deployment d: spec\.template\.metadata\.labels: .*`selector` does not match template `labels` \(the run does not need it\)\n/,
  );
});

test("limits, quotas and classes count for what stands before them, and are not passed over", async () => {
  const rules =
    object("v1", "LimitRange", "l", "spec: { limits: [{ type: Container, max: { cpu: 1 } }] }\n") +
    object("v1", "ResourceQuota", "q", "spec: { hard: { pods: 1 } }\n") +
    object("scheduling.k8s.io/v1", "PriorityClass", "high", "value: 5\n") +
    object("storage.k8s.io/v1", "StorageClass", "fast", "provisioner: example.com/p\n");
  const pod = (name: string, more = ""): string =>
    object("v1", "Pod", name, `spec: { ${more}containers: [{ name: c, image: i }] }\n`);
  const { code, stderr } = await run(`${pod("a", "priorityClassName: high, ")}${pod("b")}${rules}`);
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /^kubewright: f\.yaml:\d+:\d+: Pod b: .*exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1\n$/,
  );
});

const object = (apiVersion: string, kind: string, name: string, more = ""): string =>
  `---\napiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: { name: ${name} }\n${more}`;

test("webhooks are passed over, because virtual time calls none, and refused with --strict", async () => {
  const webhooks = ["Validating", "Mutating"]
    .map((which) => object("admissionregistration.k8s.io/v1", `${which}WebhookConfiguration`, "w", "webhooks: []\n"))
    .join("");
  const simulated = await run(`${job("a")}${webhooks}`);
  expect([simulated.code, simulated.stderr]).toEqual([
    0,
    "kubewright: ignored: 1 MutatingWebhookConfiguration, 1 ValidatingWebhookConfiguration (not simulated)\n",
  ]);
  const { code, stderr } = await run(`${job("a")}${webhooks}`, ["--strict"]);
  expect([code, stderr.split("\n")[0]]).toEqual([
    2,
    "kubewright: f.yaml:14:7: ValidatingWebhookConfiguration w: admissionregistration.k8s.io/v1 is not simulated",
  ]);
});

test("definitions whose objects a webhook converts are passed over with their objects, and refused with --strict", async () => {
  const definition = (versions: string): string =>
    object(
      "apiextensions.k8s.io/v1",
      "CustomResourceDefinition",
      "widgets.example.com",
      `spec:
  group: example.com
  scope: Namespaced
  names: { plural: widgets, kind: Widget }
  conversion:
    strategy: Webhook
    webhook: { conversionReviewVersions: [v1], clientConfig: { url: "https://example.com/convert" } }
  versions: [${versions}]
`,
    );
  const version = (name: string, storage: boolean): string =>
    `{ name: ${name}, served: true, storage: ${storage}, schema: { openAPIV3Schema: { type: object } } }`;
  const widget = object("example.com/v1", "Widget", "w");
  const two = definition(`${version("v1", true)}, ${version("v2", false)}`);
  const simulated = await run(`${job("a")}${two}${widget}`);
  expect([simulated.code, simulated.stderr]).toEqual([
    0,
    "kubewright: ignored: 1 CustomResourceDefinition, 1 Widget (not simulated)\n",
  ]);
  const { code, stderr } = await run(`${job("a")}${two}`, ["--strict"]);
  expect([code, stderr.split("\n")[0]]).toEqual([
    2,
    "kubewright: f.yaml:21:5: CustomResourceDefinition widgets.example.com: spec.conversion: no webhook is called in virtual time; leave it out where no object is converted",
  ]);
  // With a single version nothing is converted.
  const one = await run(`${job("a")}${definition(version("v1", true))}${widget}`);
  expect([one.code, one.stderr]).toEqual([0, ""]);
});

test("input without workloads is not simulated, and the message counts the kinds found", async () => {
  const maps = object("v1", "ConfigMap", "a") + object("v1", "ConfigMap", "b") + object("v1", "ServiceAccount", "c");
  const nothing = "nothing to simulate: there is no CronJob, Job or Pod, only 2 ConfigMaps, 1 ServiceAccount";
  expect(await run(`${maps}${object("apps.example.com/v1", "Deployment", "d")}`)).toEqual({
    code: 2,
    stdout: "",
    stderr: `kubewright: ignored: 1 Deployment (not simulated)\nkubewright: ${nothing}\n`,
    written: {},
  });
  // A mistake may be the cause, and is printed first.
  const broken = await run(`${maps}---\n${job("j").replace("Never", "Sometimes")}`);
  expect([broken.code, broken.stdout]).toEqual([2, ""]);
  expect(broken.stderr.trimEnd().split("\n")).toEqual([
    expect.stringMatching(/: Job j: spec\.template\.spec\.restartPolicy: .*: supported values: "OnFailure", "Never"$/),
    `kubewright: ${nothing}`,
  ]);
});

test("an unfilled placeholder is reported as a placeholder, for any error", async () => {
  const { stderr } = await run(
    `${job("a", "", "  labels: { a: '{{ .Values.a }}' }\n")}---\n${job("b").replace("spec:", "spec:\n  backoffLimit: ${LIMIT}")}`,
  );
  expect(stderr.trimEnd().split("\n")).toEqual([
    expect.stringMatching(/^kubewright: f\.yaml:5:11: Job a: metadata\.labels: .*; \{\{ … \}\} is a template action: /),
    "kubewright: f.yaml:19:17: Job b: spec.backoffLimit: must be a whole number, not text; ${…} is a placeholder: fill it in first, as with envsubst",
  ]);
});

test("for an object with very many mistakes a few are printed, and the others counted", async () => {
  const fields = Array.from({ length: 40 }, (_, index) => `  x${index}: 1\n`).join("");
  const { stderr } = await run(`${job("a", fields)}---\n${job("b")}`);
  const lines = stderr.trimEnd().split("\n");
  expect(lines).toHaveLength(5);
  expect(lines.at(-1)).toBe("kubewright: … and 36 more mistakes in Job a");
});

test("kinds are counted in words that are right for one and for many", async () => {
  const kinds = ["Prometheus", "Proxy", "SecurityContextConstraints", "Ingress", "Gateway", "Redis"];
  const others = kinds
    .map((kind) => object("example.com/v1", kind, "a") + object("example.com/v1", kind, "b"))
    .join("");
  expect((await run(`${job("a")}${others}`)).stderr).toBe(
    "kubewright: ignored: 2 Gateways, 2 Ingresses, 2 Prometheuses, 2 Proxies, 2 Redises, 2 SecurityContextConstraints (not simulated)\n",
  );
});

test("an invalid namespace is reported at the field that names it", async () => {
  const { code, stderr } = await run(`${job("a", "", "  namespace: Team A\n")}---\n${job("b")}`);
  expect(code).toBe(0);
  expect(stderr).toMatch(
    /^kubewright: f\.yaml:5:14: Job Team A\/a: metadata\.namespace: Invalid value: "Team A": a lowercase RFC 1123 label .*\n$/,
  );
});

test("a misspelt time zone is reported with a suggestion", async () => {
  const spec = "spec:\n  schedule: '@daily'\n  timeZone: Europe/Berln\n  jobTemplate: ";
  const template = "{ spec: { template: { spec: { restartPolicy: Never, containers: [{ name: c, image: b }] } } } }\n";
  const { stderr } = await run(`${job("a")}${object("batch/v1", "CronJob", "c", `${spec}${template}`)}`);
  expect(stderr).toBe(
    'kubewright: f.yaml:18:13: CronJob c: spec.timeZone: Invalid value: "Europe/Berln": unknown time zone Europe/Berln; did you mean "Europe/Berlin"?\n',
  );
});
