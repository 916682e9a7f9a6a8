import {
  BOOL,
  type CostModel,
  type FunctionLibrary,
  MapValue,
  OpaqueValue,
  type Overload,
  STRING,
  type Type,
  type Value,
  exactly,
  member,
  typeName,
} from "@kubewright/cel";

import type { AccessControl } from "../access-control.js";
import type { AccessDecision, RequestUser } from "../authorization/authorizer.js";
import type { ResourceAttributes } from "../request-info.js";
import { AUTHORIZER, DECISION, GROUP_CHECK, PATH_CHECK, RESOURCE_CHECK } from "./expression-types.js";

/** Cost of one authorization check. Upstream: apiserver `pkg/cel/library/cost.go`. */
const checkCost: CostModel = () => ({ cost: exactly(350_000) });

/** The CEL variable `authorizer`: checks what a user may do. */
export class AuthorizerValue extends MapValue {
  readonly size = 1;

  /** @param requested - Attributes of the request that is being admitted. */
  constructor(
    readonly access: AccessControl,
    readonly user: RequestUser,
    readonly requested: ResourceAttributes,
  ) {
    super();
  }

  get(key: Value): Value | undefined {
    if (key !== "requestResource") return undefined;
    return opaqueValue<Check>(RESOURCE_CHECK, { authorizer: this, path: "", resource: this.requested });
  }

  keys(): Iterable<Value> {
    return ["requestResource"];
  }

  override get objectType(): Type {
    return AUTHORIZER;
  }
}

interface Group {
  readonly authorizer: AuthorizerValue;
  readonly group: string;
}

/** A path or a resource that a user may or may not access. */
interface Check {
  readonly authorizer: AuthorizerValue;
  readonly path: string;
  readonly resource?: ResourceAttributes;
}

function opaqueValue<T>(type: Type, content: T): OpaqueValue<T> {
  return new OpaqueValue(typeName(type), content);
}

/** Narrows a resource check by a text. */
function narrowing(attributes: (text: string) => Partial<ResourceAttributes>): Overload[] {
  return [
    member([RESOURCE_CHECK, STRING], RESOURCE_CHECK, ({ content }: OpaqueValue<Check>, text: string) =>
      opaqueValue(RESOURCE_CHECK, { ...content, resource: { ...content.resource!, ...attributes(text) } }),
    ),
  ];
}

function check({ content }: OpaqueValue<Check>, verb: string): OpaqueValue<AccessDecision> {
  const { authorizer, ...attributes } = content;
  return opaqueValue(DECISION, authorizer.access.decide({ user: authorizer.user, verb, ...attributes }));
}

/**
 * Functions of the CEL variable `authorizer`. Field and label selectors restrict nothing here: a user that may list all
 * objects may list a selection.
 */
export const authorizerFunctions: FunctionLibrary = {
  path: [
    member([AUTHORIZER, STRING], PATH_CHECK, (authorizer: AuthorizerValue, path: string) =>
      opaqueValue<Check>(PATH_CHECK, { authorizer, path }),
    ),
  ],
  group: [
    member([AUTHORIZER, STRING], GROUP_CHECK, (authorizer: AuthorizerValue, group: string) =>
      opaqueValue<Group>(GROUP_CHECK, { authorizer, group }),
    ),
  ],
  serviceAccount: [
    member([AUTHORIZER, STRING, STRING], AUTHORIZER, (authorizer: AuthorizerValue, namespace: string, name: string) => {
      const username = `system:serviceaccount:${namespace}:${name}`;
      const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
      return new AuthorizerValue(authorizer.access, { username, groups }, authorizer.requested);
    }),
  ],
  resource: [
    member([GROUP_CHECK, STRING], RESOURCE_CHECK, ({ content }: OpaqueValue<Group>, resource: string) =>
      opaqueValue<Check>(RESOURCE_CHECK, {
        authorizer: content.authorizer,
        path: "",
        resource: { group: content.group, version: "*", resource, subresource: "", namespace: "", name: "" },
      }),
    ),
  ],
  subresource: narrowing((subresource) => ({ subresource })),
  namespace: narrowing((namespace) => ({ namespace })),
  name: narrowing((name) => ({ name })),
  fieldSelector: narrowing(() => ({})),
  labelSelector: narrowing(() => ({})),
  check: [PATH_CHECK, RESOURCE_CHECK].map((type) => member([type, STRING], DECISION, check, checkCost)),
  allowed: [member([DECISION], BOOL, ({ content }: OpaqueValue<AccessDecision>) => content.allowed)],
  reason: [member([DECISION], STRING, ({ content }: OpaqueValue<AccessDecision>) => content.reason)],
  errored: [member([DECISION], BOOL, () => false)],
  error: [member([DECISION], STRING, () => "")],
};
