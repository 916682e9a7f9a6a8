import type { ClusterRole, ClusterRoleBinding, PolicyRule, RoleSubject } from "@kubewright/api";

import { MASTERS_GROUP } from "./authorizer.js";

const GROUP = "rbac.authorization.k8s.io";
const LABELS = { "kubernetes.io/bootstrapping": "rbac-defaults" };
const ANNOTATIONS = { "rbac.authorization.kubernetes.io/autoupdate": "true" };
const READ = ["get", "list", "watch"];
const WRITE = ["create", "delete", "deletecollection", "patch", "update"];

/** Resources that `view` may read; secrets and roles are excluded. Upstream: `viewRules`. */
const VIEW_RESOURCES: readonly [group: string, resources: readonly string[]][] = [
  [
    "",
    [
      "configmaps",
      "endpoints",
      "persistentvolumeclaims",
      "persistentvolumeclaims/status",
      "pods",
      "replicationcontrollers",
      "replicationcontrollers/scale",
      "serviceaccounts",
      "services",
      "services/status",
    ],
  ],
  [
    "",
    [
      "bindings",
      "events",
      "limitranges",
      "namespaces/status",
      "pods/log",
      "pods/status",
      "replicationcontrollers/status",
      "resourcequotas",
      "resourcequotas/status",
    ],
  ],
  ["", ["namespaces"]],
  ["discovery.k8s.io", ["endpointslices"]],
  [
    "apps",
    [
      "controllerrevisions",
      "daemonsets",
      "daemonsets/status",
      "deployments",
      "deployments/scale",
      "deployments/status",
      "replicasets",
      "replicasets/scale",
      "replicasets/status",
      "statefulsets",
      "statefulsets/scale",
      "statefulsets/status",
    ],
  ],
  ["autoscaling", ["horizontalpodautoscalers", "horizontalpodautoscalers/status"]],
  ["batch", ["cronjobs", "cronjobs/status", "jobs", "jobs/status"]],
  ["policy", ["poddisruptionbudgets", "poddisruptionbudgets/status"]],
  ["networking.k8s.io", ["ingresses", "ingresses/status", "networkpolicies"]],
];
const CONNECT_SUBRESOURCES = ["pods/attach", "pods/exec", "pods/portforward", "pods/proxy"];
/** Upstream: `editRules`. */
const EDIT_RESOURCES: readonly [group: string, resources: readonly string[]][] = [
  ["", ["pods", ...CONNECT_SUBRESOURCES]],
  [
    "",
    [
      "configmaps",
      "events",
      "persistentvolumeclaims",
      "replicationcontrollers",
      "replicationcontrollers/scale",
      "secrets",
      "serviceaccounts",
      "services",
      "services/proxy",
    ],
  ],
  [
    "apps",
    [
      "daemonsets",
      "deployments",
      "deployments/rollback",
      "deployments/scale",
      "replicasets",
      "replicasets/scale",
      "statefulsets",
      "statefulsets/scale",
    ],
  ],
  ["autoscaling", ["horizontalpodautoscalers"]],
  ["batch", ["cronjobs", "jobs"]],
  ["policy", ["poddisruptionbudgets"]],
  ["networking.k8s.io", ["ingresses", "networkpolicies"]],
];

/**
 * Returns the roles and bindings that a cluster with RBAC starts with. They are `cluster-admin` and the roles for
 * discovery, health checks and access reviews. For the kinds served here they also include `view`, `edit` and `admin`,
 * with their `system:aggregate-to-*` roles. Upstream: `bootstrappolicy/policy.go`, of which this is a small part.
 *
 * Differs: aggregated roles contain their rules from the start, in the order of later aggregation, so that they also
 * work without an aggregation controller.
 */
export function bootstrapPolicy(): (ClusterRole | ClusterRoleBinding)[] {
  const viewRules = VIEW_RESOURCES.map(([group, resources]) => rule([group], resources, READ));
  const editOnlyRules = [
    rule([""], [...CONNECT_SUBRESOURCES, "secrets", "services/proxy"], READ),
    rule([""], ["serviceaccounts"], ["impersonate"]),
    rule([""], ["pods/eviction", "serviceaccounts/token"], ["create"]),
    ...EDIT_RESOURCES.map(([group, resources]) => rule([group], resources, WRITE)),
    rule(["coordination.k8s.io"], ["leases"], [...READ, ...WRITE]),
  ];
  const editRules = [...editOnlyRules, ...viewRules];
  const adminOnlyRules = [
    rule(["authorization.k8s.io"], ["localsubjectaccessreviews"], ["create"]),
    rule([GROUP], ["rolebindings", "roles"], [...READ, ...WRITE]),
  ];
  const adminRules = [...editRules, ...adminOnlyRules];
  return [
    role("cluster-admin", [rule(["*"], ["*"], ["*"]), pathRule(["*"], ["*"])]),
    role("system:discovery", [
      pathRule(
        [
          "/api",
          "/api/*",
          "/apis",
          "/apis/*",
          "/healthz",
          "/livez",
          "/openapi",
          "/openapi/*",
          "/readyz",
          "/version",
          "/version/",
        ],
        ["get"],
      ),
    ]),
    role("system:basic-user", [
      rule(["authorization.k8s.io"], ["selfsubjectaccessreviews", "selfsubjectrulesreviews"], ["create"]),
      rule(["authentication.k8s.io"], ["selfsubjectreviews"], ["create"]),
    ]),
    role("system:public-info-viewer", [pathRule(["/healthz", "/livez", "/readyz", "/version", "/version/"], ["get"])]),
    role("system:auth-delegator", [
      rule(["authentication.k8s.io"], ["tokenreviews"], ["create"]),
      rule(["authorization.k8s.io"], ["subjectaccessreviews"], ["create"]),
    ]),
    role("system:monitoring", [
      pathRule(["/healthz", "/healthz/*", "/livez", "/livez/*", "/metrics", "/readyz", "/readyz/*"], ["get"]),
    ]),
    role("system:aggregate-to-view", viewRules, "view"),
    role("system:aggregate-to-edit", editOnlyRules, "edit"),
    role("system:aggregate-to-admin", adminOnlyRules, "admin"),
    aggregate("view", viewRules, "edit"),
    aggregate("edit", editRules, "admin"),
    aggregate("admin", adminRules),
    binding("cluster-admin", [MASTERS_GROUP]),
    binding("system:discovery", ["system:authenticated"]),
    binding("system:basic-user", ["system:authenticated"]),
    binding("system:public-info-viewer", ["system:authenticated", "system:unauthenticated"]),
    binding("system:monitoring", ["system:monitoring"]),
  ];
}

function rule(apiGroups: readonly string[], resources: readonly string[], verbs: readonly string[]): PolicyRule {
  return { apiGroups: [...apiGroups], resources: [...resources], verbs: [...verbs] };
}

function pathRule(nonResourceURLs: readonly string[], verbs: readonly string[]): PolicyRule {
  return { nonResourceURLs: [...nonResourceURLs], verbs: [...verbs] };
}

/** @param aggregatesTo - The aggregated role that includes this role. */
function role(name: string, rules: PolicyRule[], aggregatesTo?: string): ClusterRole {
  const labels = aggregatesTo === undefined ? LABELS : { ...LABELS, [aggregationLabel(aggregatesTo)]: "true" };
  return {
    apiVersion: `${GROUP}/v1`,
    kind: "ClusterRole",
    metadata: { name, labels, annotations: ANNOTATIONS },
    rules,
  };
}

/** Creates an aggregated role. */
function aggregate(name: string, rules: PolicyRule[], aggregatesTo?: string): ClusterRole {
  const selector = { matchLabels: { [aggregationLabel(name)]: "true" } };
  return { ...role(name, rules, aggregatesTo), aggregationRule: { clusterRoleSelectors: [selector] } };
}

function aggregationLabel(name: string): string {
  return `${GROUP}/aggregate-to-${name}`;
}

function binding(name: string, groups: readonly string[]): ClusterRoleBinding {
  return {
    apiVersion: `${GROUP}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name, labels: LABELS, annotations: ANNOTATIONS },
    roleRef: { apiGroup: GROUP, kind: "ClusterRole", name },
    subjects: groups.map((group): RoleSubject => ({ apiGroup: GROUP, kind: "Group", name: group })),
  };
}
