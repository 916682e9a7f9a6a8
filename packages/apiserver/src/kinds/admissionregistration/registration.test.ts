import * as fc from "fast-check";
import { expect, test } from "vitest";

import { create, update } from "../../../test/strategy-calls.js";
import { validatingAdmissionPolicyBindingResource } from "./policy-binding.js";
import { validatingAdmissionPolicyResource } from "./policy.js";
import {
  mutatingWebhookConfigurationResource,
  validatingWebhookConfigurationResource,
} from "./webhook-configuration.js";

const webhooks = validatingWebhookConfigurationResource.strategy;
const policies = validatingAdmissionPolicyResource.strategy;
const bindings = validatingAdmissionPolicyBindingResource.strategy;

const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] };
const hook = {
  name: "a.example.com",
  clientConfig: { url: "https://hooks.test/x" },
  admissionReviewVersions: ["v1"],
  sideEffects: "None",
  rules: [rule],
};
const configuration = (...hooks: object[]): object => ({ metadata: { name: "w" }, webhooks: hooks });
const problemOf = (change: object): string => create(webhooks, configuration({ ...hook, ...change })).message;
const ruleProblem = (change: object): string => problemOf({ rules: [{ ...rule, ...change }] });
const policyProblem = (change: object): string => {
  const spec = { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: "true" }], ...change };
  return create(policies, { metadata: { name: "p" }, spec }).message;
};

const word = fc.stringMatching(/^[a-z]([a-z0-9]{0,5})$/);

test("a webhook's name is a domain of three parts or more", () => {
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (parts) => {
      expect(problemOf({ name: parts.join(".") }) === "").toBe(parts.length >= 3);
    }),
  );
});

test("duplicate webhook names are refused", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 5 }), (names) => {
      const { errors } = create(webhooks, configuration(...names.map((name) => ({ ...hook, name: `${name}.x.y` }))));
      const again = names.flatMap((name, index) => (names.indexOf(name) < index ? [`webhooks[${index}].name`] : []));
      expect(errors.map(({ field }) => field)).toEqual(again);
    }),
  );
});

test("a webhook has either a plain https URL or a service", () => {
  const part = fc.constantFrom("", "x");
  fc.assert(
    fc.property(
      fc.constantFrom("https", "http", "HTTPS"),
      part,
      part,
      part,
      fc.boolean(),
      (scheme, user, query, fragment, isServiceToo) => {
        const url = `${scheme}://${user && `${user}@`}host/path${query && `?${query}`}${fragment && `#${fragment}`}`;
        const service = isServiceToo ? { service: { name: "s", namespace: "n" } } : {};
        const isPlain = scheme.toLowerCase() === "https" && user + query + fragment === "";
        expect(problemOf({ clientConfig: { url, ...service } }) === "").toBe(isPlain && !isServiceToo);
      },
    ),
  );
});

test.each([
  [
    "https://",
    'webhooks[0].clientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path]',
  ],
  [
    "https://host:port/x",
    'webhooks[0].clientConfig.url: Required value: url must be a valid URL: parse "https://host:port/x": invalid port ":port" after host; desired format: https://host[/path]',
  ],
  [
    "https://host/%zz",
    'webhooks[0].clientConfig.url: Required value: url must be a valid URL: parse "https://host/%zz": invalid URL escape "%zz"; desired format: https://host[/path]',
  ],
  ["https://[::1]:8443/x", ""],
])("the URL %s is read as Go reads it", (url, message) => {
  expect(problemOf({ clientConfig: { url } })).toBe(message);
});

test("a path below a service has no empty segments, and only names", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("a", "", "b.c", "B_"), { minLength: 1, maxLength: 4 }), (segments) => {
      const path = `/${segments.join("/")}`;
      const checked = path === "/" ? [] : path.slice(1).replace(/\/$/, "").split("/");
      const { errors } = create(
        webhooks,
        configuration({ ...hook, clientConfig: { service: { name: "s", namespace: "n", path } } }),
      );
      const wrong = checked.flatMap((segment, index) => (segment === "" || segment === "B_" ? [index] : []));
      expect(errors.map(({ detail }) => Number(/\d+/.exec(detail)))).toEqual(path === "//" ? [0] : wrong);
    }),
  );
});

test("a wildcard must be the only entry of groups, versions and operations", () => {
  const lists: [string, string[]][] = [
    ["apiGroups", ["", "apps", "batch"]],
    ["apiVersions", ["v1", "v1beta1"]],
    ["operations", ["CREATE", "UPDATE", "DELETE", "CONNECT"]],
  ];
  fc.assert(
    fc.property(
      fc.constantFrom(...lists).chain(([name, values]) => fc.tuple(fc.constant(name), fc.subarray(["*", ...values]))),
      ([name, list]) => {
        const isRight = list.length === 1 || (list.length > 1 && !list.includes("*"));
        expect(ruleProblem({ [name]: list }) === "").toBe(isRight);
      },
    ),
  );
});

test.each([
  [
    ["*/*", "pods"],
    'resources: Invalid value: ["*/*","pods"]: if \'*/*\' is present, must not specify other resources',
  ],
  [
    ["*/scale", "pods/scale"],
    "resources[1]: Invalid value: \"pods/scale\": if '*/scale' is present, must not specify pods/scale",
  ],
  [["*", "pods/status"], ""],
  [["pods", "pods/*"], ""],
])("the resources %j", (resources, problem) => {
  expect(ruleProblem({ resources })).toBe(problem === "" ? "" : `webhooks[0].rules[0].${problem}`);
});

test("a timeout is between 1 and 30 seconds", () => {
  fc.assert(
    fc.property(fc.integer({ min: -5, max: 40 }), (timeoutSeconds) => {
      expect(problemOf({ timeoutSeconds }) === "").toBe(timeoutSeconds >= 1 && timeoutSeconds <= 30);
    }),
  );
});

test("at least one review version is supported, and none is repeated", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("v1", "v1beta1", "v2"), { maxLength: 4 }), (versions) => {
      const isKnown = versions.some((version) => version !== "v2");
      const isOnce = new Set(versions).size === versions.length;
      expect(problemOf({ admissionReviewVersions: versions }) === "").toBe(isKnown && isOnce);
    }),
  );
});

test("at most 64 match conditions are allowed, and each must be boolean", () => {
  const conditions = (count: number): object[] =>
    Array.from({ length: count }, (_, index) => ({ name: `c${index}`, expression: "has(object.spec)" }));
  expect(problemOf({ matchConditions: conditions(64) })).toBe("");
  expect(problemOf({ matchConditions: conditions(65) })).toBe(
    "webhooks[0].matchConditions: Too many: 65: must have at most 64 items",
  );
  fc.assert(
    fc.property(
      fc.constantFrom("true", "object.a == 1", "'a'", "1", "object.a", "params.a == 1", "request.dryRun", "request.x"),
      (expression) => {
        const isRight = ["true", "object.a == 1", "request.dryRun"].includes(expression);
        expect(problemOf({ matchConditions: [{ name: "c", expression }] }) === "").toBe(isRight);
      },
    ),
  );
});

test("a changed webhook bumps the generation, a label does not; only mutating webhooks have a reinvocation policy", () => {
  const stored = create(mutatingWebhookConfigurationResource.strategy, configuration(hook)).object;
  expect(stored).toMatchObject({ metadata: { generation: 1 }, webhooks: [{ reinvocationPolicy: "Never" }] });
  expect(create(webhooks, configuration(hook)).object).not.toHaveProperty("webhooks.0.reinvocationPolicy");
  const labelled = update(webhooks, stored, (object) => (object.metadata.labels = { a: "b" })).object;
  expect(webhooks.bumpsGeneration?.(labelled, stored)).toBe(false);
  const changed = update(webhooks, stored, (object) => Object.assign(object, { webhooks: [] })).object;
  expect(webhooks.bumpsGeneration?.(changed, stored)).toBe(true);
});

test.each([
  [{ matchConstraints: { resourceRules: [] } }, "spec.matchConstraints.resourceRules: Required value"],
  [
    { paramKind: { apiVersion: "v1", kind: "Bad_" } },
    /^spec.paramKind.kind: Invalid value: "Bad_": may have mixed case/,
  ],
  [{ paramKind: { apiVersion: "x.y/V1", kind: "K" } }, /^spec.paramKind.apiVersion: Invalid value: "V1": a DNS-1035/],
  [{ validations: [{ expression: "true", message: " " }] }, /message must be non-empty if specified/],
  [{ validations: [{ expression: "true", messageExpression: "object.a" }] }, /must evaluate to string but got dyn$/],
  [{ validations: [{ expression: "object.a" }] }, /must evaluate to bool but got dyn$/],
  [
    { validations: [{ expression: "true", messageExpression: "string(authorizer.path('/').check('get').allowed())" }] },
    /undeclared/,
  ],
  [{ variables: [{ name: "if", expression: "1" }] }, /must be a valid CEL identifier/],
  [
    {
      variables: [
        { name: "a", expression: "variables.b" },
        { name: "b", expression: "1" },
      ],
    },
    /undeclared reference to 'variables'/,
  ],
  [
    { variables: [{ name: "a", expression: "1" }], validations: [{ expression: "variables.a == 'x'" }] },
    /no matching overload/,
  ],
  [{ variables: [{ name: "a", expression: "1" }], validations: [{ expression: "variables.a == 1" }] }, ""],
  [
    {
      auditAnnotations: [
        { key: "a", valueExpression: "null" },
        { key: "a", valueExpression: "'x'" },
      ],
    },
    'spec.auditAnnotations[1].key: Duplicate value: "a"',
  ],
  [
    { matchConstraints: { resourceRules: [{ ...rule, resourceNames: ["a", "a"] }] } },
    'spec.matchConstraints.resourceRules[0].resourceNames[1]: Duplicate value: "a"',
  ],
])("a policy with %j", (change, message) => {
  expect(policyProblem(change)).toMatch(message === "" ? /^$/ : message);
});

test("expressions may use params when the policy has a paramKind", () => {
  fc.assert(
    fc.property(fc.boolean(), fc.constantFrom("validations", "variables", "matchConditions"), (hasKind, where) => {
      const expression = "params.max == 1";
      const paramKind = hasKind ? { paramKind: { apiVersion: "v1", kind: "ConfigMap" } } : {};
      expect(policyProblem({ ...paramKind, [where]: [{ name: "n", expression }] }) === "").toBe(hasKind);
    }),
  );
});

test("a binding has one or two validation actions, but not both Deny and Warn", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("Deny", "Warn", "Audit"), { maxLength: 3 }), (validationActions) => {
      const { message } = create(bindings, { metadata: { name: "b" }, spec: { policyName: "p", validationActions } });
      const actions = new Set(validationActions);
      const isRight =
        actions.size === validationActions.length && actions.size > 0 && !(actions.has("Deny") && actions.has("Warn"));
      expect(message === "").toBe(isRight);
    }),
  );
});

test("a binding's parameters are named or selected, and not both", () => {
  fc.assert(
    fc.property(fc.boolean(), fc.boolean(), (isNamed, isSelected) => {
      const paramRef = {
        ...(isNamed ? { name: "a" } : {}),
        ...(isSelected ? { selector: {} } : {}),
        parameterNotFoundAction: "Allow",
      };
      const spec = { policyName: "p", validationActions: ["Deny"], paramRef };
      expect(create(bindings, { metadata: { name: "b" }, spec }).message === "").toBe(isNamed !== isSelected);
    }),
  );
});
