import {
  type ClusterRole,
  type CustomResourceDefinition,
  type Deployment,
  type KubernetesObject,
  type PolicyRule,
  type Role,
  type Service,
  namespaces as namespaceResource,
} from "@kubewright/api";

import type { OperatorDescription } from "../operator-description.js";
import { type WebhookPlace, webhookConfigurations } from "../webhooks/configurations.js";
import type { Webhook } from "../webhooks/webhook.js";
import {
  certificatePermissions,
  controllerPermissions,
  electionPermissions,
  publishingPermissions,
  shardingPermissions,
} from "./operator-permissions.js";
import { type Permission, policyRules } from "./permissions.js";
import { READ_VERBS } from "./verbs.js";

export interface ManifestOptions {
  readonly operator: OperatorDescription;
  /** Webhooks that the operator serves with `serveWebhooks`. */
  readonly webhooks?: readonly Webhook[] | undefined;
  /** CustomResourceDefinitions of the operator's resources. */
  readonly definitions?: readonly CustomResourceDefinition[] | undefined;
  /** Permissions beyond those of its controllers. */
  readonly permissions?: readonly Permission[] | undefined;
  /** Default: the operator's name with tag `latest`. */
  readonly image?: string | undefined;
  /** Namespace that the operator runs in. Default: the operator's name. */
  readonly namespace?: string | undefined;
  /** Default: 2 with leader election, else 1. */
  readonly replicas?: number | undefined;
}

const RBAC = "rbac.authorization.k8s.io";
const WEBHOOK_PORT = 9443;
const HEALTH_PORT = 8081;
/** Longer than the operator takes to stop. */
const GRACE_SECONDS = 45;

/**
 * Creates the objects that install an operator, in the order in which they must be applied. The roles allow only what
 * the operator declares.
 */
export function operatorManifests(options: ManifestOptions): KubernetesObject[] {
  const { operator, webhooks = [], definitions = [], permissions = [] } = options;
  const { name } = operator;
  const { namespace = name } = options;
  const { leaderElection = {}, namespaces = [], sharding } = operator.options;
  const place: WebhookPlace = { service: { name, namespace } };
  const configured = webhookConfigurations({ name, webhooks, place });
  const converted = new Map(configured.definitions.map((each) => [each.metadata.name, each]));
  const own: Permission[] = webhooks.length === 0 ? [] : certificatePermissions(`${name}-webhooks`);
  const access = new Access(name, namespace);
  // Sharding needs the list of namespaces.
  const shared: Permission[] = sharding === undefined ? [] : [{ resource: namespaceResource, verbs: READ_VERBS }];
  const published = publishingPermissions(name, webhooks);
  const used = [...controllerPermissions(operator), ...permissions, ...published, ...shared];
  const everywhere = namespaces.length === 0;
  const narrowed = [...new Set(used.flatMap((each) => each.namespaces ?? []))];
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    ...definitions.map((each) => converted.get(each.metadata.name) ?? each),
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } },
    ...access.inCluster(
      used.filter((each) => !each.resource.namespaced || (everywhere && each.namespaces === undefined)),
    ),
    ...(everywhere ? narrowed : namespaces).flatMap((each) =>
      access.inNamespace(
        name,
        each,
        used.filter(
          ({ resource, namespaces: only }) =>
            resource.namespaced && (only === undefined ? !everywhere : only.includes(each)),
        ),
      ),
    ),
    ...(sharding === undefined ? [] : access.inNamespace(`${name}-sharding`, namespace, shardingPermissions())),
    ...(leaderElection === false || sharding !== undefined
      ? []
      : access.inNamespace(
          `${name}-leader-election`,
          leaderElection.namespace ?? namespace,
          electionPermissions(leaderElection.leaseName ?? name, operator.options.events),
        )),
    ...access.inNamespace(`${name}-webhooks`, namespace, own),
    ...(webhooks.length === 0 ? [] : [webhookService(name, namespace)]),
    deployment({
      name,
      namespace,
      image: options.image ?? `${name}:latest`,
      replicas: options.replicas ?? (leaderElection === false ? 1 : 2),
      watched: namespaces,
      serves: webhooks.length > 0,
    }),
    ...(configured.mutating === undefined ? [] : [configured.mutating]),
    ...(configured.validating === undefined ? [] : [configured.validating]),
  ];
}

/** Creates roles of one ServiceAccount with their bindings; none without permissions. */
class Access {
  readonly #subject: { kind: string; name: string; namespace: string };

  constructor(name: string, namespace: string) {
    this.#subject = { kind: "ServiceAccount", name, namespace };
  }

  inCluster(permissions: readonly Permission[]): KubernetesObject[] {
    const { name } = this.#subject;
    return this.#bound("Cluster", { name }, policyRules(permissions));
  }

  inNamespace(name: string, namespace: string, permissions: readonly Permission[]): KubernetesObject[] {
    return this.#bound("", { name, namespace }, policyRules(permissions));
  }

  #bound(
    scope: "Cluster" | "",
    metadata: { name: string; namespace?: string },
    rules: PolicyRule[],
  ): KubernetesObject[] {
    if (rules.length === 0) return [];
    const apiVersion = `${RBAC}/v1`;
    const role: Role | ClusterRole = { apiVersion, kind: `${scope}Role`, metadata, rules };
    const roleRef = { apiGroup: RBAC, kind: `${scope}Role`, name: metadata.name };
    const binding = { apiVersion, kind: `${scope}RoleBinding`, metadata, roleRef, subjects: [this.#subject] };
    return [role, binding];
  }
}

function labelsOf(name: string): Record<string, string> {
  return { "app.kubernetes.io/name": name };
}

function webhookService(name: string, namespace: string): Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace },
    spec: { selector: labelsOf(name), ports: [{ name: "webhooks", port: 443, targetPort: "webhooks" }] },
  };
}

interface DeploymentOptions {
  readonly name: string;
  readonly namespace: string;
  readonly image: string;
  readonly replicas: number;
  readonly watched: readonly string[];
  readonly serves: boolean;
}

function deployment({ name, namespace, image, replicas, watched, serves }: DeploymentOptions): Deployment {
  const labels = labelsOf(name);
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace, labels },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: name,
          terminationGracePeriodSeconds: GRACE_SECONDS,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: 65532,
            runAsGroup: 65532,
            seccompProfile: { type: "RuntimeDefault" },
          },
          containers: [
            {
              name: "operator",
              image,
              env: [
                { name: "POD_NAMESPACE", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } },
                ...(watched.length === 0 ? [] : [{ name: "WATCH_NAMESPACE", value: watched.join(",") }]),
              ],
              ports: [
                { name: "health", containerPort: HEALTH_PORT },
                ...(serves ? [{ name: "webhooks", containerPort: WEBHOOK_PORT }] : []),
              ],
              livenessProbe: {
                httpGet: { path: "/healthz", port: "health" },
                initialDelaySeconds: 15,
                periodSeconds: 20,
              },
              readinessProbe: {
                httpGet: { path: "/readyz", port: "health" },
                initialDelaySeconds: 5,
                periodSeconds: 10,
              },
              resources: { requests: { cpu: "50m", memory: "128Mi" }, limits: { memory: "512Mi" } },
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ["ALL"] },
              },
            },
          ],
        },
      },
    },
  };
}
