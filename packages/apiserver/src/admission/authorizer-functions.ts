import {
  BOOL,
  type CostModel,
  type FunctionLibrary,
  MapValue,
  type OpaqueValue,
  STRING,
  type Type,
  type Value,
  exactly,
  member,
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
    return key === "requestResource" ? new ResourceCheck(this, this.requested) : undefined;
  }

  keys(): Iterable<Value> {
    return ["requestResource"];
  }

  override get objectType(): Type {
    return AUTHORIZER;
  }
}

abstract class OpaqueObject implements OpaqueValue {
  abstract readonly opaqueType: string;

  equals(other: OpaqueValue): boolean {
    return other === this;
  }
}

class PathCheck extends OpaqueObject {
  readonly opaqueType = "kubernetes.authorization.PathCheck";

  constructor(
    readonly authorizer: AuthorizerValue,
    readonly path: string,
  ) {
    super();
  }

  check(verb: string): Decision {
    const { access, user } = this.authorizer;
    return new Decision(access.decide({ user, verb, path: this.path }));
  }
}

class GroupCheck extends OpaqueObject {
  readonly opaqueType = "kubernetes.authorization.GroupCheck";

  constructor(
    readonly authorizer: AuthorizerValue,
    readonly group: string,
  ) {
    super();
  }
}

class ResourceCheck extends OpaqueObject {
  readonly opaqueType = "kubernetes.authorization.ResourceCheck";

  constructor(
    readonly authorizer: AuthorizerValue,
    readonly attributes: ResourceAttributes,
  ) {
    super();
  }

  with(more: Partial<ResourceAttributes>): ResourceCheck {
    return new ResourceCheck(this.authorizer, { ...this.attributes, ...more });
  }

  check(verb: string): Decision {
    const { access, user } = this.authorizer;
    return new Decision(access.decide({ user, verb, path: "", resource: this.attributes }));
  }
}

class Decision extends OpaqueObject {
  readonly opaqueType = "kubernetes.authorization.Decision";

  constructor(readonly decision: AccessDecision) {
    super();
  }
}

/**
 * Functions of the CEL variable `authorizer`. Field and label selectors restrict nothing here: a user that may list all
 * objects may list a selection.
 */
export const authorizerFunctions: FunctionLibrary = {
  path: [
    member(
      [AUTHORIZER, STRING],
      PATH_CHECK,
      (authorizer: AuthorizerValue, path: string) => new PathCheck(authorizer, path),
    ),
  ],
  group: [
    member(
      [AUTHORIZER, STRING],
      GROUP_CHECK,
      (authorizer: AuthorizerValue, group: string) => new GroupCheck(authorizer, group),
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
    member([GROUP_CHECK, STRING], RESOURCE_CHECK, ({ authorizer, group }: GroupCheck, resource: string) => {
      return new ResourceCheck(authorizer, { group, version: "*", resource, subresource: "", namespace: "", name: "" });
    }),
  ],
  subresource: [
    member([RESOURCE_CHECK, STRING], RESOURCE_CHECK, (check: ResourceCheck, subresource: string) =>
      check.with({ subresource }),
    ),
  ],
  namespace: [
    member([RESOURCE_CHECK, STRING], RESOURCE_CHECK, (check: ResourceCheck, namespace: string) =>
      check.with({ namespace }),
    ),
  ],
  name: [
    member([RESOURCE_CHECK, STRING], RESOURCE_CHECK, (check: ResourceCheck, name: string) => check.with({ name })),
  ],
  fieldSelector: [member([RESOURCE_CHECK, STRING], RESOURCE_CHECK, (check: ResourceCheck) => check)],
  labelSelector: [member([RESOURCE_CHECK, STRING], RESOURCE_CHECK, (check: ResourceCheck) => check)],
  check: [
    member([PATH_CHECK, STRING], DECISION, (check: PathCheck, verb: string) => check.check(verb), checkCost),
    member([RESOURCE_CHECK, STRING], DECISION, (check: ResourceCheck, verb: string) => check.check(verb), checkCost),
  ],
  allowed: [member([DECISION], BOOL, ({ decision }: Decision) => decision.allowed)],
  reason: [member([DECISION], STRING, ({ decision }: Decision) => decision.reason)],
  errored: [member([DECISION], BOOL, () => false)],
  error: [member([DECISION], STRING, () => "")],
};
