import { type KubernetesObject, type Pod, type PodCondition, formatTime } from "@kubewright/api";

import type { ApiCall } from "../api-call.js";
import { badRequest, conflict, notFound, plainError, success } from "../api-error.js";
import { isJsonObject } from "../json.js";
import { type Reply, valueReply } from "../reply.js";
import { mediaTypeOf, readObjectBody } from "../request-body.js";
import { DecodeError, decode, noFindings } from "../schema/decode.js";
import { MARKED_BYTES } from "../storage/object-size.js";
import type { StoredObject } from "../storage/stored-object.js";
import { readDeleteOptions, readWriteOptions } from "../write-options.js";
import { parseYaml } from "../yaml.js";
import { deleteStored } from "./delete.js";
import { admitToNamespace } from "./create.js";

interface Binding extends KubernetesObject {
  target: { kind?: string; name?: string };
}

const POD = { group: "", resource: "pods", kind: "Pod" };

interface Eviction extends KubernetesObject {
  deleteOptions?: Record<string, unknown>;
}

/** POST of `pods/binding`, or of a Binding: assigns a pod to a node. Upstream: `pkg/registry/core/pod/storage` BindingREST. */
export function bind(call: ApiCall, podName = call.target.name): Reply {
  const options = readWriteOptions(call, "CreateOptions");
  const binding = readBody(call, "Binding") as Binding;
  const name = podName === "" ? (binding.metadata.name ?? "") : podName;
  checkNamespace(call, binding);
  admitToNamespace(call, name);
  if (binding.metadata.name !== name) throw badRequest("name in URL does not match name in Binding object");
  const { target } = binding;
  if (target.kind && target.kind !== "Node")
    throw plainError(
      `target.kind: Unsupported value: ${JSON.stringify(target.kind)}: supported values: "Node", "<empty>"`,
    );
  if (!target.name) throw plainError("target.name: Required value");
  const { storage, stored } = findPod(call, name);
  const pod = stored.object as Pod;
  const { uid, resourceVersion } = binding.metadata;
  const subject = { group: "", resource: "pods/binding", kind: "Binding" };
  if (uid && uid !== pod.metadata.uid)
    throw conflict(
      POD,
      name,
      bindingPrecondition(call, name, `UID in precondition: ${uid}, UID in object meta: ${pod.metadata.uid}`),
    );
  if (resourceVersion && resourceVersion !== pod.metadata.resourceVersion) {
    const why = `ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${pod.metadata.resourceVersion}`;
    throw conflict(POD, name, bindingPrecondition(call, name, why));
  }
  if (pod.metadata.deletionTimestamp)
    throw conflict(subject, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  if (pod.spec?.nodeName)
    throw conflict(subject, name, `pod ${name} is already assigned to node ${JSON.stringify(pod.spec.nodeName)}`);
  if ((pod.spec?.schedulingGates ?? []).length > 0)
    throw conflict(subject, name, `pod ${name} has non-empty .spec.schedulingGates`);
  const next: Pod = { ...pod, metadata: { ...pod.metadata } };
  next.spec = { ...next.spec!, nodeName: target.name };
  const { annotations, labels } = binding.metadata;
  if (annotations !== undefined) next.metadata.annotations = { ...next.metadata.annotations, ...annotations };
  if (labels !== undefined) next.metadata.labels = { ...next.metadata.labels, ...labels };
  const status = { ...next.status };
  delete status.nominatedNodeName;
  status.conditions = withCondition(
    status.conditions ?? [],
    { type: "PodScheduled", status: "True" },
    call.server.clock.now(),
  );
  next.status = status;
  if (!options.dryRun) storage.write(next, call.newBytes + MARKED_BYTES);
  return valueReply(201, success(undefined, 201));
}

function bindingPrecondition(call: ApiCall, name: string, why: string): string {
  return `StorageError: invalid object, Code: 4, Key: /registry/pods/${call.target.namespace}/${name}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ${why}`;
}

/** POST of `pods/eviction`: says so in the pod's status, then deletes it. Upstream: `pkg/registry/core/pod/storage` EvictionREST. */
export function evict(call: ApiCall): Reply {
  const writeOptions = readWriteOptions(call, "CreateOptions");
  const eviction = readBody(call, "Eviction") as Eviction;
  const { name } = call.target;
  checkNamespace(call, eviction);
  admitToNamespace(call, name);
  if (eviction.metadata.name !== name) throw badRequest("name in URL does not match name in Eviction object");
  const options = readDeleteOptions(call, eviction.deleteOptions ?? {});
  const dryRun = options.dryRun || writeOptions.dryRun;
  const { storage, stored } = findPod(call, name);
  const podResource = call.server.registry.find("", "v1", "pods")!;
  const podCall: ApiCall = { ...call, target: { ...call.target, resource: podResource, subresource: "" } };
  const { uid, resourceVersion } = options.preconditions ?? {};
  if (
    (uid !== undefined && uid !== stored.object.metadata.uid) ||
    (resourceVersion !== undefined && resourceVersion !== stored.object.metadata.resourceVersion)
  ) {
    deleteStored(podCall, stored, options);
  }
  const pod = stored.object as Pod;
  const next: Pod = { ...pod, metadata: { ...pod.metadata } };
  const condition = {
    type: "DisruptionTarget",
    status: "True",
    reason: "EvictionByEvictionAPI",
    message: "Eviction API: evicting",
  };
  next.status = {
    ...next.status,
    conditions: withCondition(next.status?.conditions ?? [], condition, call.server.clock.now()),
  };
  const marked = dryRun ? stored : storage.write(next, call.newBytes + MARKED_BYTES);
  const { preconditions: _checked, ...rest } = options;
  deleteStored(podCall, marked, { ...rest, preconditions: undefined, dryRun });
  return valueReply(201, success(undefined, 201));
}

/** The conditions with that one added, or updated; its transition time moves when its status does. */
function withCondition(
  conditions: readonly PodCondition[],
  condition: Omit<PodCondition, "lastTransitionTime">,
  nowMs: number,
): PodCondition[] {
  const existing = conditions.find(({ type }) => type === condition.type);
  const lastTransitionTime = existing?.status === condition.status ? existing.lastTransitionTime : formatTime(nowMs);
  const next = { ...condition, lastProbeTime: null, lastTransitionTime } as unknown as PodCondition;
  return existing === undefined
    ? [...conditions, next]
    : conditions.map((candidate) => (candidate === existing ? next : candidate));
}

function findPod(
  call: ApiCall,
  name: string,
): { storage: ApiCall["target"]["resource"]["storage"]; stored: StoredObject } {
  const resource = call.server.registry.find("", "v1", "pods")!;
  const stored = resource.storage.get(call.target.namespace, name);
  if (stored === undefined) throw notFound(resource, name);
  return { storage: resource.storage, stored };
}

function checkNamespace({ target }: ApiCall, object: KubernetesObject): void {
  if (object.metadata.namespace && object.metadata.namespace !== target.namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
}

/** The body of a subresource whose objects are not stored. @throws ApiError 400 when it is of another kind. */
export function readBody(call: ApiCall, kind: string): KubernetesObject {
  const { value } = readObjectBody(
    call.request.body,
    mediaTypeOf(call.request.headers["content-type"]),
    kind,
    parseYaml,
    call.server.schemas,
  );
  const sentKind = isJsonObject(value) ? (value["kind"] as string | undefined) : undefined;
  if (sentKind !== undefined && sentKind !== kind) {
    throw badRequest(
      `${sentKind} in version "v1" cannot be handled as a ${kind}: converting (v1.${sentKind}) to (core.${kind}): unknown conversion`,
    );
  }
  try {
    const findings = noFindings();
    const decoded = decode(call.server.schemas.ofType(kind), value, findings);
    call.newBytes += findings.size;
    return { ...decoded, metadata: decoded["metadata"] ?? {} };
  } catch (error) {
    if (error instanceof DecodeError)
      throw badRequest(`${kind} in version "v1" cannot be handled as a ${kind}: ${error.message}`);
    throw error;
  }
}
