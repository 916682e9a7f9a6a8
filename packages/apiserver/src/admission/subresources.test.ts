import { SimulatedClock, seededRandom } from "@kubewright/clock";
import type { ApiRequest } from "@kubewright/transport";
import { expect, test } from "vitest";

import { createApiServer } from "../api-server.js";
import { inProcessWebhooks } from "../webhooks/in-process-webhooks.js";
import { type AdmissionRequest, type AdmissionResponse, jsonPatchOf } from "./admission-review.js";

const REGISTRATION = "/apis/admissionregistration.k8s.io/v1";
const POD = "/api/v1/namespaces/default/pods/p";
const DEPLOYMENT = "/apis/apps/v1/namespaces/default/deployments/d";
const FLEET = "/apis/example.com/v1/namespaces/default/fleets/f";

interface Bench {
  readonly asked: AdmissionRequest[];
  readonly send: (
    method: ApiRequest["method"],
    path: string,
    value?: unknown,
  ) => Promise<{ readonly status: number; readonly value: Record<string, never> & { readonly message?: string } }>;
}

/** Creates a cluster with a pod, a Deployment, a custom resource and a webhook of the given kind for the rule. */
async function serve(
  kind: "Mutating" | "Validating",
  rule: object,
  answer: (request: AdmissionRequest) => AdmissionResponse,
  more: object = {},
): Promise<Bench> {
  const asked: AdmissionRequest[] = [];
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const webhooks = inProcessWebhooks({
    "https://hook.test/": ({ request }) => {
      asked.push(request);
      return answer(request);
    },
  });
  const server = createApiServer({ clock, random: seededRandom(1), freeze: true, managed: true, webhooks });
  const send: Bench["send"] = async (method, path, value) => {
    const headers: Record<string, string> =
      method === "PATCH" ? { "content-type": "application/merge-patch+json" } : {};
    const body = value === undefined ? {} : { body: { type: "decoded", value } as const };
    const response = await server.transport({ method, path, headers, ...body });
    // Lets the server count the write for quotas.
    await clock.advance(0);
    if (response.body.type !== "decoded") throw new Error("no object");
    return { status: response.status, value: response.body.value as never };
  };
  const labels = { app: "a" };
  const podSpec = { containers: [{ name: "c", image: "i" }] };
  await send("POST", "/api/v1/namespaces/default/pods", { metadata: { name: "p", labels }, spec: podSpec });
  await send("POST", "/apis/apps/v1/namespaces/default/deployments", {
    metadata: { name: "d" },
    spec: { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec } },
  });
  const scale = { specReplicasPath: ".spec.ships", statusReplicasPath: ".status.ships" };
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  await send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    metadata: { name: "fleets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "fleets", kind: "Fleet" },
      versions: [{ name: "v1", served: true, storage: true, schema, subresources: { scale } }],
    },
  });
  await clock.advance(1000);
  await send("POST", "/apis/example.com/v1/namespaces/default/fleets", {
    apiVersion: "example.com/v1",
    kind: "Fleet",
    metadata: { name: "f" },
    spec: { ships: 2 },
  });
  const configured = await send("POST", `${REGISTRATION}/${kind.toLowerCase()}webhookconfigurations`, {
    metadata: { name: "w" },
    webhooks: [
      {
        name: "a.example.com",
        clientConfig: { url: "https://hook.test/" },
        rules: [{ apiGroups: ["*"], apiVersions: ["*"], ...rule }],
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
        ...more,
      },
    ],
  });
  expect(configured.status).toBe(201);
  return { asked, send };
}

const refuse = (): AdmissionResponse => ({ allowed: false, status: { code: 403, message: "not that" } });
const EXEC = `${POD}/exec?command=sh&command=-c&container=c&stdout=true`;
const SCALED = { apiVersion: "autoscaling/v1", kind: "Scale" };

test.each([
  [
    "pods/binding",
    "CREATE",
    "POST",
    `${POD}/binding`,
    { metadata: { name: "p" }, target: { name: "n" } },
    "v1 Binding",
  ],
  ["pods/eviction", "CREATE", "POST", `${POD}/eviction`, { metadata: { name: "p" } }, "policy/v1 Eviction"],
  [
    "bindings",
    "CREATE",
    "POST",
    "/api/v1/namespaces/default/bindings",
    { metadata: { name: "p" }, target: { name: "n" } },
    "v1 Binding",
  ],
  ["pods/exec", "CONNECT", "POST", EXEC, undefined, "v1 PodExecOptions"],
  ["pods/exec", "CONNECT", "GET", EXEC, undefined, "v1 PodExecOptions"],
  ["pods/attach", "CONNECT", "POST", `${POD}/attach`, undefined, "v1 PodAttachOptions"],
  ["pods/portforward", "CONNECT", "POST", `${POD}/portforward`, undefined, "v1 PodPortForwardOptions"],
  [
    "namespaces/finalize",
    "UPDATE",
    "PUT",
    "/api/v1/namespaces/default/finalize",
    { metadata: { name: "default" } },
    "v1 Namespace",
  ],
  [
    "deployments/scale",
    "UPDATE",
    "PUT",
    `${DEPLOYMENT}/scale`,
    { ...SCALED, metadata: { name: "d" }, spec: { replicas: 3 } },
    "autoscaling/v1 Scale",
  ],
  ["fleets/scale", "UPDATE", "PATCH", `${FLEET}/scale`, { spec: { replicas: 3 } }, "autoscaling/v1 Scale"],
  [
    "subjectaccessreviews",
    "CREATE",
    "POST",
    "/apis/authorization.k8s.io/v1/subjectaccessreviews",
    { spec: { user: "u", resourceAttributes: { verb: "get", resource: "pods" } } },
    "authorization.k8s.io/v1 SubjectAccessReview",
  ],
] as const)(
  "who refuses %s (%s by %s) is asked, with what was sent",
  async (rule, operation, method, path, sent, expectedKind) => {
    const { asked, send } = await serve("Validating", { operations: [operation], resources: [rule] }, refuse);
    const { status, value } = await send(method, path, sent);
    expect([status, value.message]).toEqual([403, 'admission webhook "a.example.com" denied the request: not that']);
    expect(asked).toHaveLength(1);
    const { kind, resource, subResource, object } = asked[0]!;
    expect(`${kind.group === "" ? "" : `${kind.group}/`}${kind.version} ${kind.kind}`).toBe(expectedKind);
    expect(asked[0]).toMatchObject({ operation, requestKind: kind });
    expect([resource.resource, subResource]).toEqual([rule.split("/")[0], rule.split("/")[1]]);
    expect(object).toMatchObject({ kind: kind.kind });
  },
);

test("what is connected to is shown by its options, and has no labels to be selected by", async () => {
  const rule = { operations: ["CONNECT"], resources: ["pods/*"] };
  const allowing = await serve("Validating", rule, () => ({ allowed: true }));
  const { value } = await allowing.send("POST", EXEC);
  expect(value.message).toMatch(/^cannot execute a command in container "c" of pod "p"/);
  expect(allowing.asked[0]).toMatchObject({ name: "p", namespace: "default", oldObject: null, options: null });
  expect(allowing.asked[0]!.object).toEqual({
    apiVersion: "v1",
    kind: "PodExecOptions",
    container: "c",
    command: ["sh", "-c"],
    stdout: true,
  });
  const objectSelector = { matchExpressions: [{ key: "app", operator: "DoesNotExist" }] };
  const selecting = await serve("Validating", rule, refuse, { objectSelector });
  expect((await selecting.send("POST", EXEC)).status).toBe(400);
  expect(selecting.asked).toEqual([]);
});

test.each([
  ["deployments/scale", DEPLOYMENT, "replicas"],
  ["fleets/scale", FLEET, "ships"],
])("a webhook of %s sees both Scales, and what it makes of the new one holds", async (resource, path, member) => {
  const rule = { operations: ["UPDATE"], resources: [resource] };
  const { asked, send } = await serve("Mutating", rule, ({ object }) => {
    const { replicas } = object!["spec"] as { replicas: number };
    return { allowed: true, ...jsonPatchOf([{ op: "replace", path: "/spec/replicas", value: replicas - 6 }]) };
  });
  const name = path.split("/").at(-1)!;
  const scaled = await send("PUT", `${path}/scale`, { ...SCALED, metadata: { name }, spec: { replicas: 10 } });
  expect(scaled).toMatchObject({ status: 200, value: { kind: "Scale", spec: { replicas: 4 } } });
  expect(asked[0]).toMatchObject({
    object: { ...SCALED, metadata: { name }, spec: { replicas: 10 } },
    oldObject: { ...SCALED, metadata: { name }, spec: { replicas: 2 } },
  });
  expect((await send("GET", path)).value).toMatchObject({ spec: { [member]: 4 } });
  const below = await send("PATCH", `${path}/scale`, { spec: { replicas: 1 } });
  expect([below.status, (await send("GET", path)).value]).toMatchObject([422, { spec: { [member]: 4 } }]);
});

test("a policy may bound how far something is scaled", async () => {
  const { send } = await serve("Validating", { operations: ["CREATE"], resources: ["none"] }, refuse);
  const resourceRules = [
    { apiGroups: ["apps"], apiVersions: ["v1"], operations: ["UPDATE"], resources: ["deployments/scale"] },
  ];
  const validations = [{ expression: "object.spec.replicas <= oldObject.spec.replicas + 1" }];
  await send("POST", `${REGISTRATION}/validatingadmissionpolicies`, {
    metadata: { name: "steps" },
    spec: { matchConstraints: { resourceRules }, validations },
  });
  await send("POST", `${REGISTRATION}/validatingadmissionpolicybindings`, {
    metadata: { name: "steps" },
    spec: { policyName: "steps", validationActions: ["Deny"] },
  });
  expect((await send("PATCH", `${DEPLOYMENT}/scale`, { spec: { replicas: 3 } })).status).toBe(200);
  const far = await send("PATCH", `${DEPLOYMENT}/scale`, { spec: { replicas: 5 } });
  expect([far.status, far.value.message]).toEqual([
    422,
    expect.stringMatching(
      /^deployments.apps "d" is forbidden: ValidatingAdmissionPolicy 'steps' with binding 'steps' denied/,
    ),
  ]);
});

test("quotas count objects, not what is sent to their subresources or kept nowhere", async () => {
  const { send } = await serve("Validating", { operations: ["CREATE"], resources: ["none"] }, refuse);
  await send("POST", "/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "s" } });
  await send("POST", "/api/v1/namespaces/default/resourcequotas", {
    metadata: { name: "q" },
    spec: { hard: { pods: "1", "count/pods": "1", "count/bindings": "0", "count/serviceaccounts": "1" } },
  });
  const binding = { metadata: { name: "p" }, target: { name: "n" } };
  expect((await send("POST", "/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "t" } })).status).toBe(
    403,
  );
  expect((await send("POST", "/api/v1/namespaces/default/serviceaccounts/s/token", {})).status).toBe(201);
  expect((await send("POST", "/api/v1/namespaces/default/bindings", binding)).status).toBe(201);
  expect((await send("POST", `${POD}/eviction`, { metadata: { name: "p" } })).status).toBe(201);
});
