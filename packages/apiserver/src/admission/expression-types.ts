import { BOOL, DYN, INT, STRING, TIMESTAMP, type Type, listOf, mapOf, opaque } from "@kubewright/cel";

function object(name: string, fields: Readonly<Record<string, Type>>): Type {
  return { kind: "object", name: `kubernetes.${name}`, fields: new Map(Object.entries(fields)) };
}

const kind = object("GroupVersionKind", { group: STRING, version: STRING, kind: STRING });
const resource = object("GroupVersionResource", { group: STRING, version: STRING, resource: STRING });
const userInfo = object("UserInfo", {
  username: STRING,
  uid: STRING,
  groups: listOf(STRING),
  extra: mapOf(STRING, listOf(STRING)),
});

/** Type of the variable `request`. Upstream: `BuildRequestType`. */
export const REQUEST: Type = object("AdmissionRequest", {
  kind,
  resource,
  subResource: STRING,
  requestKind: kind,
  requestResource: resource,
  requestSubResource: STRING,
  name: STRING,
  namespace: STRING,
  operation: STRING,
  userInfo,
  dryRun: BOOL,
  options: DYN,
});

/** Type of the variable `namespaceObject`. Upstream: `BuildNamespaceType`. */
export const NAMESPACE: Type = object("Namespace", {
  metadata: object("NamespaceMetadata", {
    name: STRING,
    generateName: STRING,
    namespace: STRING,
    labels: mapOf(STRING, STRING),
    annotations: mapOf(STRING, STRING),
    UID: STRING,
    creationTimestamp: TIMESTAMP,
    deletionGracePeriodSeconds: INT,
    deletionTimestamp: TIMESTAMP,
    generation: INT,
    resourceVersion: STRING,
    finalizers: listOf(STRING),
  }),
  spec: object("NamespaceSpec", { finalizers: listOf(STRING) }),
  status: object("NamespaceStatus", {
    conditions: listOf(
      object("NamespaceCondition", {
        status: STRING,
        type: STRING,
        lastTransitionTime: TIMESTAMP,
        message: STRING,
        reason: STRING,
      }),
    ),
    phase: STRING,
  }),
});

/** Types of the authorization checks. Upstream: apiserver `pkg/cel/library/authz.go`. */
export const RESOURCE_CHECK: Type = opaque("kubernetes.authorization.ResourceCheck");
export const GROUP_CHECK: Type = opaque("kubernetes.authorization.GroupCheck");
export const PATH_CHECK: Type = opaque("kubernetes.authorization.PathCheck");
export const DECISION: Type = opaque("kubernetes.authorization.Decision");
/** An object type, so that `authorizer.requestResource` is a member. */
export const AUTHORIZER: Type = {
  kind: "object",
  name: "kubernetes.authorization.Authorizer",
  fields: new Map([["requestResource", RESOURCE_CHECK]]),
};

export function variablesType(fields: ReadonlyMap<string, Type>): Type {
  return { kind: "object", name: "kubernetes.variables", fields };
}
