import * as fc from "fast-check";
import { expect, test } from "vitest";
import { SimulatedClock, seededRandom } from "@kubewright/clock";

import { type ApiServer, createApiServer } from "../index.js";

const ROOT = "/apis/admissionregistration.k8s.io/v1";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

function apiServer(): ApiServer {
  return createApiServer({ clock: new SimulatedClock(), random: seededRandom(1), freeze: true });
}

interface PolicyAnswer {
  readonly status: number;
  readonly warning: unknown;
  readonly value: Record<string, unknown>;
}

async function send(
  server: ApiServer,
  method: "DELETE" | "POST",
  path: string,
  value?: unknown,
): Promise<PolicyAnswer> {
  const body = value === undefined ? {} : { body: { type: "decoded", value } as const };
  const response = await server.transport({ method, path, headers: {}, ...body });
  if (response.body.type !== "decoded") throw new Error("no object");
  return {
    status: response.status,
    warning: response.headers["warning"],
    value: response.body.value as Record<string, unknown>,
  };
}

/**
 * Creates a cluster with one bound policy for ConfigMaps. Returns a function that creates a ConfigMap and returns the
 * policy's answer.
 */
async function bound(
  spec: object,
  binding: object = {},
): Promise<(data?: object, metadata?: object) => Promise<PolicyAnswer>> {
  const server = apiServer();
  const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["configmaps"] };
  const policy = {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: "p" },
    spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: "false" }], ...spec },
  };
  const written = await send(server, "POST", `${ROOT}/validatingadmissionpolicies`, policy);
  expect(written.value["message"]).toBeUndefined();
  const bind = {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: "b" },
    spec: { policyName: "p", validationActions: ["Deny"], ...binding },
  };
  expect((await send(server, "POST", `${ROOT}/validatingadmissionpolicybindings`, bind)).status).toBe(201);
  return (data = {}, metadata = {}) =>
    send(server, "POST", CONFIG_MAPS, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a", ...metadata },
      data,
    });
}

const why = ({ value: { message } }: PolicyAnswer): string =>
  typeof message === "string" ? message.replace(/^.*denied request: /s, "") : "";

test("a policy holds what its expression says, whatever the data", async () => {
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), fc.string(), { maxKeys: 4 }), async (data) => {
      const create = await bound({ validations: [{ expression: "object.?data.orValue({}).size() < 3" }] });
      expect((await create(data)).status).toBe(Object.keys(data).length < 3 ? 201 : 422);
    }),
    { numRuns: 30 },
  );
});

test("what is done with a finding is the binding's", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc
        .subarray(["Deny", "Warn", "Audit"], { minLength: 1 })
        .filter((each) => each.length < 3 && each.join() !== "Deny,Warn"),
      async (validationActions) => {
        const { status, warning } = await (await bound({}, { validationActions }))();
        expect(status).toBe(validationActions.includes("Deny") ? 422 : 201);
        const text =
          "299 - \"Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': failed expression: false\"";
        expect(warning).toEqual(validationActions.includes("Warn") ? [text] : undefined);
      },
    ),
  );
});

test.each([
  ["Forbidden", 403],
  ["RequestEntityTooLarge", 413],
  ["Invalid", 422],
])("a refusal for the reason %s is a %d", async (reason, code) => {
  const { status, value } = await (await bound({ validations: [{ expression: "false", reason }] }))();
  expect([status, value["reason"]]).toEqual([code, reason]);
});

test.each([
  ["'two\\nlines'", "plain"],
  ["' '", "plain"],
  ["object.data.none", "plain"],
  ["'x' + object.metadata.name", "xa"],
])("the message that %s comes to is shown if it can be", async (messageExpression, text) => {
  const expression = messageExpression.includes("none") ? `string(${messageExpression})` : messageExpression;
  const create = await bound({
    validations: [{ expression: "false", message: "plain", messageExpression: expression }],
  });
  expect(why(await create())).toBe(text);
});

test("variables are worked out when they are needed, from those before them, and say whose error it is", async () => {
  const variables = [
    { name: "broken", expression: "object.data.none" },
    { name: "size", expression: "object.data.size()" },
    { name: "double", expression: "variables.size * 2" },
  ];
  const unused = await bound({ variables, validations: [{ expression: "variables.double == 2" }] });
  expect((await unused({ a: "1" })).status).toBe(201);
  const used = await bound({ variables, validations: [{ expression: "variables.broken == 'x'" }] });
  expect(why(await used({ a: "1" }))).toBe(
    `expression 'variables.broken == 'x'' resulted in error: composited variable "broken" fails to evaluate: no such key: none`,
  );
});

test("what costs too much has no value", async () => {
  const expression =
    "[0,1,2,3,4,5,6,7,8,9].all(a, [0,1,2,3,4,5,6,7,8,9].all(b, [0,1,2,3,4,5,6,7,8,9].all(c, [0,1,2,3,4,5,6,7,8,9].all(d, [0,1,2,3,4,5,6,7,8,9].all(e, a + b + c + d + e >= 0)))))";
  expect(why(await (await bound({ validations: [{ expression }] }))())).toMatch(
    /resulted in error: operation cancelled: actual cost limit exceeded$/,
  );
  expect((await (await bound({ failurePolicy: "Ignore", validations: [{ expression }] }))()).status).toBe(201);
});

test.each<[object, object, string]>([
  [{}, {}, ""],
  [
    { paramKind: { apiVersion: "v1", kind: "ConfigMap" } },
    { paramRef: { name: "none", parameterNotFoundAction: "Deny" } },
    "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction",
  ],
  [
    { paramKind: { apiVersion: "v1", kind: "ConfigMap" } },
    { paramRef: { name: "none", parameterNotFoundAction: "Allow" } },
    "",
  ],
  [
    { paramKind: { apiVersion: "v1", kind: "Node" } },
    { paramRef: { name: "n", namespace: "x", parameterNotFoundAction: "Deny" } },
    "failed to configure binding: paramRef.namespace must not be provided for a cluster-scoped `paramKind`",
  ],
  [
    { paramKind: { apiVersion: "x.y/v1", kind: "None" } },
    { paramRef: { name: "n", parameterNotFoundAction: "Allow" } },
    "failed to configure policy: failed to find resource referenced by paramKind: 'x.y/v1, Kind=None'",
  ],
  [
    { failurePolicy: "Ignore", paramKind: { apiVersion: "x.y/v1", kind: "None" } },
    { paramRef: { name: "n", parameterNotFoundAction: "Allow" } },
    "",
  ],
])("a policy with %j bound with %j", async (spec, binding, text) => {
  const create = await bound({ validations: [{ expression: "object != null" }], ...spec }, binding);
  expect(why(await create())).toBe(text);
});

test("every parameter that is selected has to be content", async () => {
  const create = await bound(
    {
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      matchConditions: [{ name: "no-limits", expression: "!has(object.metadata.labels)" }],
      validations: [
        { expression: "object.data.size() <= int(params.data.max)", messageExpression: "'at most ' + params.data.max" },
      ],
    },
    { paramRef: { selector: { matchLabels: { limits: "yes" } }, parameterNotFoundAction: "Allow" } },
  );
  for (const max of ["3", "1", "2"]) await create({ max }, { name: `limit-${max}`, labels: { limits: "yes" } });
  expect(why(await create({ a: "1" }))).toBe("");
  expect(why(await create({ a: "1", b: "2" }, { name: "b" }))).toBe("at most 1");
});

test("a condition that fails to evaluate refuses the request, unless the policy fails open", async () => {
  const matchConditions = [{ name: "c", expression: "object.none == 1" }];
  expect(why(await (await bound({ matchConditions }))())).toBe(
    "expression 'object.none == 1' resulted in error: no such key: none",
  );
  expect((await (await bound({ matchConditions, failurePolicy: "Ignore" }))()).status).toBe(201);
});

test("a binding narrows what its policy is for", async () => {
  const create = await bound({}, { matchResources: { objectSelector: { matchLabels: { strict: "yes" } } } });
  expect((await create()).status).toBe(201);
  expect((await create({}, { name: "b", labels: { strict: "yes" } })).status).toBe(422);
});

test("policies never stand in the way of policies", async () => {
  const rule = { apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] };
  const server = apiServer();
  const apiVersion = "admissionregistration.k8s.io/v1";
  const spec = { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: "false" }] };
  await send(server, "POST", `${ROOT}/validatingadmissionpolicies`, {
    apiVersion,
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: "p" },
    spec,
  });
  const binding = {
    apiVersion,
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: "b" },
    spec: { policyName: "p", validationActions: ["Deny"] },
  };
  await send(server, "POST", `${ROOT}/validatingadmissionpolicybindings`, binding);
  expect(
    (await send(server, "POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "n" } }))
      .status,
  ).toBe(422);
  expect((await send(server, "DELETE", `${ROOT}/validatingadmissionpolicybindings/b`)).status).toBe(200);
});
