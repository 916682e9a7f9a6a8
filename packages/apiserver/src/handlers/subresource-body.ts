import { type KubernetesObject, apiVersionOf } from "@kubewright/api";

import type { ApiCall } from "../api-call.js";
import { badRequest } from "../api-error.js";
import { requestedKind } from "../registry/admission.js";
import { readObjectBody } from "../request-body.js";
import { DecodeError, decode, noFindings } from "../schema/decode.js";

/**
 * Reads the body of a subresource whose objects are not stored.
 *
 * @throws ApiError 400 when the body has another kind.
 */
export function readSubresourceBody(call: ApiCall, kind: string): KubernetesObject {
  const { value } = readObjectBody(call.request, kind, call.server.schemas);
  const { kind: sentKind } = value as { kind?: string };
  if (sentKind !== undefined && sentKind !== kind) {
    throw badRequest(
      `${sentKind} in version "v1" cannot be handled as a ${kind}: converting (v1.${sentKind}) to (core.${kind}): unknown conversion`,
    );
  }
  try {
    const findings = noFindings();
    const decoded = decode(call.server.schemas.ofType(kind), value, findings);
    call.newBytes += findings.size;
    const { resource, subresource } = call.target;
    const apiVersion = apiVersionOf(requestedKind(resource, subresource));
    return { ...decoded, apiVersion, kind, metadata: decoded["metadata"] ?? {} };
  } catch (error) {
    if (error instanceof DecodeError)
      throw badRequest(`${kind} in version "v1" cannot be handled as a ${kind}: ${error.message}`);
    throw error;
  }
}

/** @throws ApiError 400 when the object's namespace differs from the path's. */
export function checkBodyNamespace({ target }: ApiCall, object: KubernetesObject): void {
  if (object.metadata.namespace && object.metadata.namespace !== target.namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
}
