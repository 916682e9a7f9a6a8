import type { KubernetesObject, Pod } from "@kubewright/api";

import type { ApiCall } from "../../api-call.js";
import { badRequest, conflict, plainError, success } from "../../api-error.js";
import { type Awaitable, andThen } from "../../awaitable.js";
import { admitToNamespace } from "../../registry/namespace-lifecycle.js";
import type { WriteOptions } from "../../registry/options.js";
import { checkBodyNamespace, readSubresourceBody } from "../../handlers/subresource-body.js";
import { type Reply, valueReply } from "../../reply.js";
import { MARKED_BYTES } from "../../storage/object-size.js";
import { readWriteOptions } from "../../write-options.js";
import { storedPod, withCondition } from "./stored-pod.js";

interface Binding extends KubernetesObject {
  target: { kind?: string; name?: string };
}

const POD = { group: "", resource: "pods", kind: "Pod" };

/**
 * POST of `pods/binding`, or of a Binding: assigns a pod to a node. Upstream: `pkg/registry/core/pod/storage`
 * BindingREST.
 */
export function bind(call: ApiCall, podName = call.target.name): Awaitable<Reply> {
  const options = readWriteOptions(call, "CreateOptions");
  const binding = readSubresourceBody(call, "Binding") as Binding;
  const name = podName === "" ? (binding.metadata.name ?? "") : podName;
  checkBodyNamespace(call, binding);
  admitToNamespace(call, name);
  const admitted = call.server.admission.admit(call, options, binding, (sent) => check(sent, name));
  return andThen(admitted, (sent) => assign(call, name, sent, options));
}

function check({ metadata, target }: Binding, name: string): void {
  if (metadata.name !== name) throw badRequest("name in URL does not match name in Binding object");
  if (target.kind && target.kind !== "Node")
    throw plainError(
      `target.kind: Unsupported value: ${JSON.stringify(target.kind)}: supported values: "Node", "<empty>"`,
    );
  if (!target.name) throw plainError("target.name: Required value");
}

function assign(call: ApiCall, name: string, binding: Binding, options: WriteOptions): Reply {
  const { resource, stored } = storedPod(call, name);
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
    const reason = `ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${pod.metadata.resourceVersion}`;
    throw conflict(POD, name, bindingPrecondition(call, name, reason));
  }
  if (pod.metadata.deletionTimestamp)
    throw conflict(subject, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  if (pod.spec?.nodeName)
    throw conflict(subject, name, `pod ${name} is already assigned to node ${JSON.stringify(pod.spec.nodeName)}`);
  if ((pod.spec?.schedulingGates ?? []).length > 0)
    throw conflict(subject, name, `pod ${name} has non-empty .spec.schedulingGates`);
  const next: Pod = { ...pod, metadata: { ...pod.metadata } };
  next.spec = { ...next.spec!, nodeName: binding.target.name! };
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
  if (!options.dryRun) resource.storage.write(next, call.newBytes + MARKED_BYTES);
  return valueReply(201, success(undefined, 201));
}

function bindingPrecondition(call: ApiCall, name: string, reason: string): string {
  return `StorageError: invalid object, Code: 4, Key: /registry/pods/${call.target.namespace}/${name}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ${reason}`;
}
