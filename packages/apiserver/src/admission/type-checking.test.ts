import type { ValidatingAdmissionPolicy } from "@kubewright/api";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import { expect, test } from "vitest";

import { createApiServer } from "../api-server.js";

const POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const EVERYTHING = { apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] };

interface Bench {
  readonly send: (method: "GET" | "POST" | "PUT", path: string, value?: object) => Promise<ValidatingAdmissionPolicy>;
  readonly statusOf: (spec: object) => Promise<ValidatingAdmissionPolicy["status"]>;
}

function serve(managed = true): Bench {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const server = createApiServer({ clock, random: seededRandom(1), freeze: true, managed });
  const send: Bench["send"] = async (method, path, value) => {
    const body = value === undefined ? {} : { body: { type: "decoded", value } as const };
    const answer = await server.transport({ method, path, headers: {}, ...body });
    await clock.advance(0);
    if (answer.body.type !== "decoded") throw new Error("no object");
    return answer.body.value as ValidatingAdmissionPolicy;
  };
  const statusOf: Bench["statusOf"] = async (spec) => {
    const { metadata } = await send("POST", POLICIES, { metadata: { name: "p" }, spec });
    expect(metadata.name).toBe("p");
    return (await send("GET", `${POLICIES}/p`)).status;
  };
  return { send, statusOf };
}

function matching(apiGroups: string[], resources: string[], ...expressions: string[]): object {
  const resourceRules = [{ apiGroups, apiVersions: ["v1"], operations: ["*"], resources }];
  return { matchConstraints: { resourceRules }, validations: expressions.map((expression) => ({ expression })) };
}

test("a policy's status reports expressions that do not fit the types of the matched kinds", async () => {
  const status = await serve().statusOf(
    matching(
      ["apps"],
      ["statefulsets", "deployments", "deployments/scale"],
      "object.spec.replicas > 1",
      "object.replicas > 1",
    ),
  );
  const wrong = "ERROR: <input>:1:7: undefined field 'replicas'\n | object.replicas > 1\n | ......^";
  expect(status).toEqual({
    observedGeneration: 1,
    typeChecking: {
      expressionWarnings: [
        {
          fieldRef: "spec.validations[1].expression",
          warning: `apps/v1, Kind=Deployment: ${wrong}\napps/v1, Kind=StatefulSet: ${wrong}`,
        },
      ],
    },
  });
});

test.each<[string, object]>([
  ["everything", { matchConstraints: { resourceRules: [EVERYTHING] }, validations: [{ expression: "object.x == 1" }] }],
  ["unknown kinds", matching(["example.com"], ["things"], "object.x == 1")],
  [
    "metadata, maps, lists, times and quantities of pods",
    matching(
      [""],
      ["pods"],
      "object.metadata.namespace == 'a' && object.metadata.labels['a'] == 'b'",
      "object.spec.containers.all(c, c.resources.limits['cpu'] == '1' || c.ports.exists(p, p.containerPort > 1024))",
      "object.metadata.creationTimestamp > timestamp('2026-01-01T00:00:00Z')",
      "object.spec.containers.all(c, c.livenessProbe.httpGet.port == 80)",
      "has(object.spec.nodeName) && oldObject == null",
    ),
  ],
  [
    "parameters of an unknown kind",
    { ...matching([""], ["pods"], "params.spec.most > 1"), paramKind: { apiVersion: "a.b/v1", kind: "Bound" } },
  ],
])("a policy for %s is checked without a warning", async (_what, spec) => {
  expect(await serve().statusOf(spec)).toEqual({ observedGeneration: 1, typeChecking: {} });
});

test.each<[object, string, RegExp]>([
  [
    { validations: [{ expression: "true", messageExpression: "string(object.nam)" }] },
    "spec.validations[0].messageExpression",
    /^\/v1, Kind=ConfigMap: ERROR: <input>:1:14: undefined field 'nam'/,
  ],
  [
    {
      variables: [{ name: "first", expression: "object.data.map(k, k)[0]" }],
      validations: [{ expression: "variables.first > 1" }],
    },
    "spec.validations[0].expression",
    /found no matching overload for '_>_' applied to '\(string, int\)'/,
  ],
  [
    {
      paramKind: { apiVersion: "v1", kind: "Secret" },
      validations: [{ expression: "params.dat.size() > 1" }],
    },
    "spec.validations[0].expression",
    /undefined field 'dat'/,
  ],
])("%j gives a type warning", async (spec, fieldRef, warning) => {
  const status = await serve().statusOf({ ...matching([""], ["configmaps"]), ...spec });
  expect(status?.typeChecking?.expressionWarnings).toEqual([{ fieldRef, warning: expect.stringMatching(warning) }]);
});

test("a changed policy is checked again, once, and the field manager is recorded", async () => {
  const { send, statusOf } = serve();
  expect((await statusOf(matching([""], ["pods"], "object.x > 1")))?.typeChecking?.expressionWarnings).toHaveLength(1);
  const policy = await send("GET", `${POLICIES}/p`);
  await send("PUT", `${POLICIES}/p`, { ...policy, spec: { ...policy.spec, ...matching([""], ["pods"], "true") } });
  const { status, metadata } = await send("GET", `${POLICIES}/p`);
  expect(status).toEqual({ observedGeneration: 2, typeChecking: {} });
  expect(metadata.managedFields?.map(({ manager, subresource }) => [manager, subresource])).toContainEqual([
    "validatingadmissionpolicy-status",
    "status",
  ]);
  await send("PUT", `${POLICIES}/p`, { ...(await send("GET", `${POLICIES}/p`)) });
  expect((await send("GET", `${POLICIES}/p`)).metadata.resourceVersion).toBe(metadata.resourceVersion);
});

test("a server that is not managed does not write policy status", async () => {
  expect(await serve(false).statusOf(matching([""], ["pods"], "object.x > 1"))).toEqual({});
});
