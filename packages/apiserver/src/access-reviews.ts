import type { KubernetesObject } from "@kubewright/api";

import type { ApiCall } from "./api-call.js";
import { badRequest, invalid } from "./api-error.js";
import type { AccessAttributes, UserInfo } from "./authorization/authorizer.js";
import { FieldErrors } from "./field-errors.js";
import { decodeRequestObject } from "./handlers/decode-object.js";
import { type Reply, valueReply } from "./reply.js";
import { readWriteOptions } from "./write-options.js";

interface AccessReview extends KubernetesObject {
  spec: {
    resourceAttributes?: Partial<NonNullable<AccessAttributes["resource"]>> & { verb?: string };
    nonResourceAttributes?: { path?: string; verb?: string };
    user?: string;
    uid?: string;
    groups?: string[];
    extra?: Record<string, string[]>;
    namespace?: string;
    token?: string;
    audiences?: string[];
  };
  status?: object;
}

/** SelfSubjectAccessReview: may I? Upstream: `pkg/apis/authorization/validation`. */
export function reviewSelfAccess(call: ApiCall): Reply {
  const review = read(call);
  const errors = new FieldErrors();
  validateAttributes(review, errors);
  return decided(call, review, call.user, errors);
}

export function reviewAccess(call: ApiCall): Reply {
  const review = read(call);
  const errors = new FieldErrors();
  validateAttributes(review, errors);
  validateSubject(review, errors);
  return decided(call, review, subjectOf(review), errors);
}

export function reviewLocalAccess(call: ApiCall): Reply {
  const review = read(call);
  const { namespace } = call.target;
  if (review.metadata.namespace && review.metadata.namespace !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  review.metadata.namespace = namespace;
  const errors = new FieldErrors();
  validateAttributes(review, errors);
  validateSubject(review, errors);
  if (review.spec.resourceAttributes?.namespace !== namespace)
    errors.invalid(
      "spec.resourceAttributes.namespace",
      review.spec.resourceAttributes?.namespace ?? "",
      "must match metadata.namespace",
    );
  return decided(call, review, subjectOf(review), errors);
}

export function reviewRules(call: ApiCall): Reply {
  const review = read(call);
  if (!review.spec.namespace) throw badRequest("no namespace on request");
  review.status = call.server.access.rulesFor(call.user, review.spec.namespace);
  return valueReply(201, review);
}

export function reviewSelf(call: ApiCall): Reply {
  const review = read(call);
  review.status = { userInfo: call.user };
  return valueReply(201, review);
}

/** Whose token is it? Without authentication set up, any token is anybody's. */
export function reviewToken(call: ApiCall): Reply {
  const review = read(call);
  const { token, audiences } = review.spec;
  if (!token) throw badRequest("token is required for TokenReview in authentication");
  const { authenticator, serviceAccounts } = call.server.access;
  const asked = (audiences ?? []).length > 0 ? audiences! : [serviceAccounts.issuer];
  const user =
    authenticator.userOfToken(token, asked) ??
    (authenticator.isOn ? undefined : authenticator.authenticate({ authorization: `Bearer ${token}` }, undefined));
  review.status =
    user === undefined ? { user: {}, error: "invalid bearer token" } : { authenticated: true, user, audiences: asked };
  return valueReply(201, review);
}

function read(call: ApiCall): AccessReview {
  const review = decodeRequestObject(call, readWriteOptions(call, "CreateOptions")) as AccessReview;
  delete review.metadata.managedFields;
  // Go's struct is there even when the client sent none.
  review.spec ??= {};
  return review;
}

function validateAttributes({ metadata, spec }: AccessReview, errors: FieldErrors): void {
  const { resourceAttributes, nonResourceAttributes } = spec;
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    errors.invalid(
      "spec.nonResourceAttributes",
      nonResourceAttributes,
      "cannot be specified in combination with resourceAttributes",
    );
  }
  if (resourceAttributes === undefined && nonResourceAttributes === undefined) {
    errors.invalid(
      "spec.resourceAttributes",
      null,
      "exactly one of nonResourceAttributes or resourceAttributes must be specified",
    );
  }
  const { namespace: _namespace, ...rest } = metadata;
  if (Object.keys(rest).length > 0)
    errors.invalid("metadata", { ...metadata, Name: metadata.name ?? "" }, "must be empty");
}

function validateSubject({ spec }: AccessReview, errors: FieldErrors): void {
  if (!spec.user && (spec.groups ?? []).length === 0)
    errors.invalid("spec.user", "", "at least one of user or group must be specified");
}

function decided(call: ApiCall, review: AccessReview, user: UserInfo, errors: FieldErrors): Reply {
  if (!errors.isEmpty) throw invalid({ group: call.target.resource.group, kind: "" }, "", errors);
  const { allowed, reason } = call.server.access.decide(attributesOf(review, user));
  review.status = { allowed, ...(reason === "" ? {} : { reason }) };
  return valueReply(201, review);
}

function subjectOf({ spec: { user = "", uid, groups = [], extra } }: AccessReview): UserInfo {
  return {
    username: user,
    groups,
    ...(uid === undefined ? {} : { uid }),
    ...(extra === undefined ? {} : { extra }),
  };
}

function attributesOf({ spec }: AccessReview, user: UserInfo): AccessAttributes {
  const { resourceAttributes: asked, nonResourceAttributes } = spec;
  if (asked === undefined)
    return { user, verb: nonResourceAttributes?.verb ?? "", path: nonResourceAttributes?.path ?? "" };
  const { verb = "", group = "", version = "", resource = "", subresource = "", namespace = "", name = "" } = asked;
  return { user, verb, path: "", resource: { group, version, resource, subresource, namespace, name } };
}
