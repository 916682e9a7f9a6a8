import type { Value } from "@kubewright/cel";

import type { AdmissionAttributes } from "../registry/admission.js";
import { type AdmissionRequestView } from "./admission-request.js";
import { AuthorizerValue } from "./authorizer-functions.js";
import { dynamicValue } from "./dynamic-values.js";
import { NAMESPACE, REQUEST } from "./expression-types.js";

/** Returns the variables of an expression. The caller adds `params` and `variables`. */
export function expressionVariables(attributes: AdmissionAttributes, seen: AdmissionRequestView): Map<string, Value> {
  const { server, user, resource, subresource, namespace, name } = attributes;
  const { group, version } = resource;
  const requested = { group, version, resource: resource.resource, subresource, namespace, name };
  return new Map<string, Value>([
    ["object", dynamicValue(seen.object)],
    ["oldObject", dynamicValue(seen.oldObject)],
    ["request", dynamicValue(seen.request, REQUEST)],
    ["namespaceObject", namespaceValue(attributes)],
    ["authorizer", new AuthorizerValue(server.access, user, requested)],
  ]);
}

function namespaceValue({ server, namespace }: AdmissionAttributes): Value {
  if (namespace === "") return null;
  const object = server.namespaces.storage.get("", namespace)?.object;
  if (object === undefined) return null;
  const { metadata, spec, status } = object as typeof object & { spec?: unknown; status?: unknown };
  const { uid, managedFields: _managedFields, ownerReferences: _owners, ...rest } = metadata;
  return dynamicValue({ metadata: { ...rest, UID: uid }, spec, status }, NAMESPACE);
}
