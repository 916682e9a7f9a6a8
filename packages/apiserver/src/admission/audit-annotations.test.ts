import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { expect, test } from "vitest";

import { createApiServer } from "../api-server.js";
import type { AuditRecord } from "../audit.js";
import { type WebhookHandler, inProcessWebhooks } from "../webhooks/in-process-webhooks.js";
import { jsonPatchOf } from "./admission-review.js";

const REGISTRATION = "/apis/admissionregistration.k8s.io/v1";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const RULE = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] };

interface Bench {
  readonly send: (method: "DELETE" | "POST", path: string, value?: object) => Promise<number>;
  /** Returns the audit annotations of the latest ConfigMap request. */
  readonly noted: () => AuditRecord["annotations"];
}

function serve(handlers: Readonly<Record<string, WebhookHandler>> = {}): Bench {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const webhooks = inProcessWebhooks(handlers);
  const server = createApiServer({ clock, random: seededRandom(1), freeze: true, webhooks });
  const records: AuditRecord[] = [];
  server.observe((record) => records.push(record));
  return {
    send: async (method, path, value) => {
      const body = value === undefined ? {} : { body: { type: "decoded", value } as const };
      return (await server.transport({ method, path, headers: {}, ...body })).status;
    },
    noted: () => records.findLast(({ resource }) => resource === "configmaps")?.annotations,
  };
}

async function bind({ send }: Bench, spec: object, ...bindings: readonly object[]): Promise<void> {
  const matchConstraints = { resourceRules: [RULE] };
  const policy = { metadata: { name: "p.example.com" }, spec: { matchConstraints, ...spec } };
  expect(await send("POST", `${REGISTRATION}/validatingadmissionpolicies`, policy)).toBe(201);
  for (const [index, more] of bindings.entries()) {
    const binding = { metadata: { name: `b${index}` }, spec: { policyName: "p.example.com", ...more } };
    expect(await send("POST", `${REGISTRATION}/validatingadmissionpolicybindings`, binding)).toBe(201);
  }
}

async function configure(
  { send }: Bench,
  kind: "Mutating" | "Validating",
  ...webhooks: readonly object[]
): Promise<void> {
  const all = webhooks.map((more, index) => ({
    name: `${"abc"[index]}.example.com`,
    clientConfig: { url: `https://${kind.toLowerCase()}.test/${index}` },
    rules: [RULE],
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    ...more,
  }));
  const path = `${REGISTRATION}/${kind.toLowerCase()}webhookconfigurations`;
  expect(await send("POST", path, { metadata: { name: "w" }, webhooks: all })).toBe(201);
}

const configMap = { metadata: { name: "a" }, data: { size: "10" } };

test("the audit record has a policy's annotations, without those that have no value", async () => {
  const bench = serve();
  await bind(
    bench,
    {
      auditAnnotations: [
        { key: "size", valueExpression: "' of ' + object.data.size" },
        { key: "none", valueExpression: "null" },
        { key: "empty", valueExpression: "''" },
      ],
    },
    { validationActions: ["Audit"] },
  );
  expect(await bench.send("POST", CONFIG_MAPS, configMap)).toBe(201);
  expect(bench.noted()).toEqual({ "p.example.com/size": "of 10" });
  expect(await bench.send("DELETE", `${CONFIG_MAPS}/a`)).toBe(200);
  expect(bench.noted()).toBeUndefined();
});

test("annotations of several bindings are joined, each value once", async () => {
  const bench = serve();
  for (const [name, max] of Object.entries({ x: "1", y: "2", z: "1" }))
    await bench.send("POST", CONFIG_MAPS, { metadata: { name }, data: { max } });
  await bind(
    bench,
    {
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      auditAnnotations: [{ key: "max", valueExpression: "string(params.data.max)" }],
    },
    ...["x", "y", "z"].map((name) => ({
      validationActions: ["Deny"],
      paramRef: { name, namespace: "default", parameterNotFoundAction: "Deny" },
    })),
  );
  expect(await bench.send("POST", CONFIG_MAPS, configMap)).toBe(201);
  expect(bench.noted()).toEqual({ "p.example.com/max": "1, 2" });
});

test("an annotation that has no value refuses whatever the binding does about findings", async () => {
  const bench = serve();
  await bind(
    bench,
    { auditAnnotations: [{ key: "none", valueExpression: "string(object.data.none)" }] },
    { validationActions: ["Audit"] },
  );
  expect(await bench.send("POST", CONFIG_MAPS, configMap)).toBe(422);
});

test("a finding that is to be audited is noted, and passes", async () => {
  const bench = serve();
  const validations = [
    { expression: "true" },
    { expression: "int(object.data.size) < 10", message: "too large" },
    { expression: "false", message: "never told" },
  ];
  await bind(bench, { validations }, { validationActions: ["Warn", "Audit"] });
  expect(await bench.send("POST", CONFIG_MAPS, configMap)).toBe(201);
  expect(bench.noted()).toEqual({
    "validation.policy.admission.k8s.io/validation_failure": JSON.stringify([
      {
        message: "too large",
        policy: "p.example.com",
        binding: "b0",
        expressionIndex: 1,
        validationActions: ["Warn", "Audit"],
      },
    ]),
  });
});

test("webhooks' annotations, what they changed, and those that failed open are noted, also of what is refused", async () => {
  const patch = [{ op: "add", path: "/data/b", value: "1" }];
  const bench = serve({
    "https://mutating.test/0": () => ({ allowed: true, auditAnnotations: { why: "as always", "not a key": "x" } }),
    "https://mutating.test/1": () => ({ allowed: true, ...jsonPatchOf(patch) }),
    "https://validating.test/1": () => ({ allowed: false, auditAnnotations: { rule: "7" } }),
  });
  await configure(bench, "Mutating", { reinvocationPolicy: "IfNeeded" }, {}, { failurePolicy: "Ignore" });
  await configure(bench, "Validating", { failurePolicy: "Ignore" }, {});
  expect(await bench.send("POST", CONFIG_MAPS, configMap)).toBe(400);
  const by = (webhook: string, more: object): string => JSON.stringify({ configuration: "w", webhook, ...more });
  expect(bench.noted()).toEqual({
    "a.example.com/why": "as always",
    "mutation.webhook.admission.k8s.io/round_0_index_0": by("a.example.com", { mutated: false }),
    "mutation.webhook.admission.k8s.io/round_0_index_1": by("b.example.com", { mutated: true }),
    "patch.webhook.admission.k8s.io/round_0_index_1": by("b.example.com", { patch, patchType: "JSONPatch" }),
    "failed-open.mutating.webhook.admission.k8s.io/round_0_index_2": "c.example.com",
    "mutation.webhook.admission.k8s.io/round_0_index_2": by("c.example.com", { mutated: false }),
    "mutation.webhook.admission.k8s.io/round_1_index_0": by("a.example.com", { mutated: false }),
    "failed-open.validating.webhook.admission.k8s.io/round_0_index_0": "a.example.com",
    "b.example.com/rule": "7",
  });
});
