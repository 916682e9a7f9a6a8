import { isJsonObject } from "../json.js";
import { sortedKeys } from "./sorted-keys.js";

/**
 * The fields of upstream's internal types, in their order.
 *
 * - `Name`: printed as `null` when absent.
 * - `Name=zero`: printed as `zero` when absent.
 * - `Name@Type`: the value, or each item of the list, has a type of this table.
 */
const TYPES: Readonly<Record<string, string>> = {
  PodSpec:
    'Volumes InitContainers@Container Containers@Container EphemeralContainers RestartPolicy="" TerminationGracePeriodSeconds ActiveDeadlineSeconds DNSPolicy="" NodeSelector ServiceAccountName="" AutomountServiceAccountToken NodeName="" SecurityContext@PodSecurityContext ImagePullSecrets Hostname="" Subdomain="" SetHostnameAsFQDN Affinity SchedulerName="" Tolerations@Toleration HostAliases PriorityClassName="" Priority PreemptionPolicy DNSConfig ReadinessGates RuntimeClassName Overhead EnableServiceLinks TopologySpreadConstraints OS SchedulingGates ResourceClaims Resources@ResourceRequirements HostnameOverride SchedulingGroup',
  PodSecurityContext:
    "HostNetwork=false HostPID=false HostIPC=false ShareProcessNamespace HostUsers SELinuxOptions WindowsOptions RunAsUser RunAsGroup RunAsNonRoot SupplementalGroups SupplementalGroupsPolicy FSGroup FSGroupChangePolicy Sysctls SeccompProfile AppArmorProfile SELinuxChangePolicy",
  Container:
    'Name="" Image="" Command Args WorkingDir="" Ports@ContainerPort EnvFrom Env@EnvVar Resources@ResourceRequirements ResizePolicy RestartPolicy RestartPolicyRules VolumeMounts@VolumeMount VolumeDevices LivenessProbe ReadinessProbe StartupProbe Lifecycle TerminationMessagePath="" TerminationMessagePolicy="" ImagePullPolicy="" SecurityContext@SecurityContext Stdin=false StdinOnce=false TTY=false',
  SecurityContext:
    "Capabilities@Capabilities Privileged SELinuxOptions WindowsOptions RunAsUser RunAsGroup RunAsNonRoot ReadOnlyRootFilesystem AllowPrivilegeEscalation ProcMount SeccompProfile AppArmorProfile",
  Capabilities: "Add Drop",
  ContainerPort: 'Name="" HostPort=0 ContainerPort=0 Protocol="" HostIP=""',
  EnvVar: 'Name="" Value="" ValueFrom',
  ResourceRequirements: "Limits Requests Claims",
  VolumeMount: 'Name="" ReadOnly=false RecursiveReadOnly MountPath="" SubPath="" MountPropagation SubPathExpr=""',
  Toleration: 'Key="" Operator="" Value="" Effect="" TolerationSeconds',
  Taint: 'Key="" Value="" Effect="" TimeAdded',
  NodeAddress: 'Type="" Address=""',
  PodFailurePolicy: "Rules@PodFailurePolicyRule",
  PodFailurePolicyRule: 'Action="" OnExitCodes@OnExitCodes OnPodConditions@OnPodCondition',
  OnExitCodes: 'ContainerName Operator="" Values',
  OnPodCondition: 'Type="" Status=""',
  SuccessPolicy: "Rules@SuccessPolicyRule",
  SuccessPolicyRule: "SucceededIndexes SucceededCount",
  UncountedTerminatedPods: "Succeeded Failed",
  PodDisruptionBudgetSpec: "MinAvailable Selector MaxUnavailable UnhealthyPodEvictionPolicy",
  DeploymentStrategy: 'Type="" RollingUpdate@RollingUpdateDeployment',
  RollingUpdateDeployment: "MaxUnavailable MaxSurge",
  DaemonSetUpdateStrategy: 'Type="" RollingUpdate@RollingUpdateDaemonSet',
  RollingUpdateDaemonSet: "MaxUnavailable MaxSurge",
  StatefulSetUpdateStrategy: 'Type="" RollingUpdate@RollingUpdateStatefulSetStrategy',
  RollingUpdateStatefulSetStrategy: "Partition=0 MaxUnavailable",
};

/** Values whose members are not converted: maps, and types of API machinery that have no internal form. */
const UNCONVERTED_MEMBERS = new Set([
  "nodeselector",
  "limits",
  "requests",
  "overhead",
  "selector",
  "labelselector",
  "namespaceselector",
  "metadata",
  "matchlabels",
]);
/** Fields that belong to the pod's security context in the internal type. */
const HOST_FIELDS = ["hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers"];

type Members = Record<string, unknown>;

/**
 * Converts a value to the form that upstream's error messages show: the names of internal Go types, with each absent
 * field. For types that are not in the table, only the first letter of field names is capitalized.
 */
export function internalForm(type: string, value: unknown): unknown {
  if (value === undefined || value === null) return null;
  if (Array.isArray(value)) return value.map((item) => internalForm(type, item));
  if (typeof value !== "object") return value;
  if (type === "PodTemplateSpec") {
    const { metadata, spec } = value as { metadata?: Members; spec?: unknown };
    const members = Object.entries(metadata ?? {}).map(([name, member]) => [name, withSortedKeys(member)]);
    return { ...Object.fromEntries(members), Spec: internalForm("PodSpec", spec ?? {}) };
  }
  const table = TYPES[type];
  if (table === undefined) return capitalised(value as Members);
  const members = new Map(Object.entries(value as Members).map(([name, member]) => [name.toLowerCase(), member]));
  if (type === "PodSpec" && members.get("securitycontext") !== undefined) {
    const hostFields = HOST_FIELDS.map((name) => [name, (value as Members)[name]] as const).filter(
      ([, member]) => member !== undefined,
    );
    members.set("securitycontext", {
      ...Object.fromEntries(hostFields),
      ...(members.get("securitycontext") as Members),
    });
  }
  const result: Members = {};
  for (const text of table.split(" ")) {
    const [, name = "", zero, memberType = ""] = /^(\w+)(?:=([^@]*))?(?:@(\w+))?$/.exec(text) ?? [];
    const member = members.get(name.toLowerCase());
    if (member !== undefined && member !== null)
      result[name] = isUnconverted(name) ? withSortedKeys(member) : internalForm(memberType, member);
    else if (memberType === "ResourceRequirements" && type === "Container") result[name] = internalForm(memberType, {});
    else result[name] = zero === undefined ? null : JSON.parse(zero);
  }
  return result;
}

function capitalised(value: Members): Members {
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.charAt(0).toUpperCase() + name.slice(1),
      isUnconverted(name) ? withSortedKeys(member) : internalForm("", member),
    ]),
  );
}

/** Sorts the keys of a map, because Go prints maps sorted. */
function withSortedKeys(value: unknown): unknown {
  return isJsonObject(value) ? sortedKeys(value) : value;
}

function isUnconverted(name: string): boolean {
  return UNCONVERTED_MEMBERS.has(name.toLowerCase());
}
