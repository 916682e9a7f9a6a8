import type { KubernetesObject } from "@kubewright/api";

import {
  reviewAccess,
  reviewLocalAccess,
  reviewRules,
  reviewSelf,
  reviewSelfAccess,
  reviewToken,
} from "./access-reviews.js";
import type { ApiCall } from "./api-call.js";
import { bind } from "./handlers/pod-subresources.js";
import type { Reply } from "./reply.js";
import { ordered } from "./resource-registry.js";
import type { BuiltInSchemas } from "./schema/built-in-schemas.js";
import { decode } from "./schema/decode.js";
import type { ServedResource } from "./served-resource.js";
import type { Store } from "./storage/store.js";

interface VirtualResource {
  readonly group: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly handle: (call: ApiCall) => Reply;
}

const AUTHORIZATION = "authorization.k8s.io";
const AUTHENTICATION = "authentication.k8s.io";

const resources: readonly VirtualResource[] = [
  { group: "", resource: "bindings", kind: "Binding", namespaced: true, handle: (call) => bind(call) },
  {
    group: AUTHENTICATION,
    resource: "selfsubjectreviews",
    kind: "SelfSubjectReview",
    namespaced: false,
    handle: reviewSelf,
  },
  { group: AUTHENTICATION, resource: "tokenreviews", kind: "TokenReview", namespaced: false, handle: reviewToken },
  {
    group: AUTHORIZATION,
    resource: "localsubjectaccessreviews",
    kind: "LocalSubjectAccessReview",
    namespaced: true,
    handle: reviewLocalAccess,
  },
  {
    group: AUTHORIZATION,
    resource: "selfsubjectaccessreviews",
    kind: "SelfSubjectAccessReview",
    namespaced: false,
    handle: reviewSelfAccess,
  },
  {
    group: AUTHORIZATION,
    resource: "selfsubjectrulesreviews",
    kind: "SelfSubjectRulesReview",
    namespaced: false,
    handle: reviewRules,
  },
  {
    group: AUTHORIZATION,
    resource: "subjectaccessreviews",
    kind: "SubjectAccessReview",
    namespaced: false,
    handle: reviewAccess,
  },
];

/** Resources that can only be created, and are never stored: the answer is all there is. */
export function virtualResources(store: Store, schemas: BuiltInSchemas): ServedResource[] {
  return resources.map(({ group, resource, kind, namespaced, handle }): ServedResource => {
    const apiVersion = group === "" ? "v1" : `${group}/v1`;
    const schema = schemas.ofKind(group, kind)!;
    return {
      definition: { group, version: "v1", resource, kind, namespaced },
      group,
      version: "v1",
      resource,
      kind,
      namespaced,
      nameFormat: "dns-1123-subdomain",
      customResource: false,
      apiVersion,
      listKind: `${kind}List`,
      singular: kind.toLowerCase(),
      shortNames: [],
      categories: [],
      verbs: new Set(["create"]),
      strategy: {},
      schema,
      decode: (value, findings): KubernetesObject => ordered(decode(schema, value, findings), kind, apiVersion),
      storage: store.storage(`virtual/${group}/${resource}`),
      view: undefined,
      subresources: new Map(),
      timeToLiveMs: undefined,
      handle,
      custom: undefined,
    };
  });
}
