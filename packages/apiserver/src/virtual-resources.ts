import type { KubernetesObject } from "@kubewright/api";

import {
  reviewAccess,
  reviewLocalAccess,
  reviewRules,
  reviewSelf,
  reviewSelfAccess,
  reviewToken,
} from "./access-reviews.js";
import type { Handler } from "./api-call.js";
import { bind } from "./kinds/pod/binding.js";
import type { BuiltInSchemas } from "./schema/built-in-schemas.js";
import { decode } from "./schema/decode.js";
import { orderMembers } from "./schema/order-members.js";
import type { ServedResource } from "./served-resource.js";
import type { Store } from "./storage/store.js";

interface VirtualResource {
  readonly group: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly create: Handler;
}

const AUTHORIZATION = "authorization.k8s.io";
const AUTHENTICATION = "authentication.k8s.io";

const resources: readonly VirtualResource[] = [
  { group: "", resource: "bindings", kind: "Binding", namespaced: true, create: (call) => bind(call) },
  {
    group: AUTHENTICATION,
    resource: "selfsubjectreviews",
    kind: "SelfSubjectReview",
    namespaced: false,
    create: reviewSelf,
  },
  { group: AUTHENTICATION, resource: "tokenreviews", kind: "TokenReview", namespaced: false, create: reviewToken },
  {
    group: AUTHORIZATION,
    resource: "localsubjectaccessreviews",
    kind: "LocalSubjectAccessReview",
    namespaced: true,
    create: reviewLocalAccess,
  },
  {
    group: AUTHORIZATION,
    resource: "selfsubjectaccessreviews",
    kind: "SelfSubjectAccessReview",
    namespaced: false,
    create: reviewSelfAccess,
  },
  {
    group: AUTHORIZATION,
    resource: "selfsubjectrulesreviews",
    kind: "SelfSubjectRulesReview",
    namespaced: false,
    create: reviewRules,
  },
  {
    group: AUTHORIZATION,
    resource: "subjectaccessreviews",
    kind: "SubjectAccessReview",
    namespaced: false,
    create: reviewAccess,
  },
];

/** Resources that support only create and are not stored: the response is the result. */
export function virtualResources(store: Store, schemas: BuiltInSchemas): ServedResource[] {
  return resources.map(({ group, resource, kind, namespaced, create }): ServedResource => {
    const apiVersion = group === "" ? "v1" : `${group}/v1`;
    const schema = schemas.ofKind(apiVersion, kind)!;
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
      handlers: { create },
      strategy: {},
      schema,
      decode: (value, findings): KubernetesObject => orderMembers(decode(schema, value, findings), kind, apiVersion),
      storage: store.storage(`virtual/${group}/${resource}`),
      view: undefined,
      storageVersion: undefined,
      remove: undefined,
      subresources: new Map(),
      timeToLiveMs: undefined,
      warnings: [],
      custom: undefined,
    };
  });
}
