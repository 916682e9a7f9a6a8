import type { KubernetesObject, Pod } from "@kubewright/api";

import type { ApiCall } from "../../api-call.js";
import { badRequest, success } from "../../api-error.js";
import { type Awaitable, andThen } from "../../awaitable.js";
import { admitToNamespace } from "../../registry/namespace-lifecycle.js";
import { deleteAdmitted } from "../../registry/delete.js";
import type { WriteOptions } from "../../registry/options.js";
import { checkBodyNamespace, readSubresourceBody } from "../../handlers/subresource-body.js";
import { type Reply, valueReply } from "../../reply.js";
import { MARKED_BYTES } from "../../storage/object-size.js";
import { readDeleteOptions, readWriteOptions } from "../../write-options.js";
import { consumeDisruption } from "../policy/disruption.js";
import { storedPod, withCondition } from "./stored-pod.js";

interface Eviction extends KubernetesObject {
  deleteOptions?: Record<string, unknown>;
}

/**
 * POST of `pods/eviction`: checks the pod's disruption budget, sets the DisruptionTarget condition, then deletes the
 * pod. Upstream: `pkg/registry/core/pod/storage` EvictionREST.
 */
export function evict(call: ApiCall): Awaitable<Reply> {
  const writeOptions = readWriteOptions(call, "CreateOptions");
  const eviction = readSubresourceBody(call, "Eviction") as Eviction;
  const { name } = call.target;
  checkBodyNamespace(call, eviction);
  admitToNamespace(call, name);
  const admitted = call.server.admission.admit(call, writeOptions, eviction, ({ metadata }) => {
    if (metadata.name !== name) throw badRequest("name in URL does not match name in Eviction object");
  });
  return andThen(admitted, (sent) => deletePod(call, sent, writeOptions));
}

function deletePod(call: ApiCall, eviction: Eviction, writeOptions: WriteOptions): Reply {
  const { name } = call.target;
  const options = readDeleteOptions(call, eviction.deleteOptions ?? {});
  const dryRun = options.dryRun || writeOptions.dryRun;
  const { resource, stored } = storedPod(call, name);
  consumeDisruption(call.server, stored.object, dryRun);
  const write = { ...call, target: { ...call.target, resource, subresource: "" } };
  const { uid, resourceVersion } = options.preconditions ?? {};
  if (
    (uid !== undefined && uid !== stored.object.metadata.uid) ||
    (resourceVersion !== undefined && resourceVersion !== stored.object.metadata.resourceVersion)
  ) {
    deleteAdmitted(write, stored, options);
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
  const marked = dryRun ? stored : resource.storage.write(next, call.newBytes + MARKED_BYTES);
  const { preconditions: _checked, ...rest } = options;
  deleteAdmitted(write, marked, { ...rest, preconditions: undefined, dryRun });
  return valueReply(201, success(undefined, 201));
}
