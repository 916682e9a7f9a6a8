import type { KubernetesObject } from "@kubewright/api";

import type { ApiCall } from "./api-call.js";
import { badRequest, invalid } from "./api-error.js";
import { FieldErrors } from "./field-errors.js";
import { decodeRequestObject } from "./handlers/decode-object.js";
import { type Reply, valueReply } from "./reply.js";
import { readWriteOptions } from "./write-options.js";

/** Everybody is let in as this user: the server has no authorizer of its own. */
const USER = { username: "system:anonymous", groups: ["system:unauthenticated", "system:authenticated"] };

interface AccessReview extends KubernetesObject {
  spec: {
    resourceAttributes?: { namespace?: string };
    nonResourceAttributes?: object;
    user?: string;
    groups?: string[];
    namespace?: string;
    token?: string;
  };
  status?: object;
}

/** SelfSubjectAccessReview: may I? Upstream: `pkg/apis/authorization/validation`. */
export function reviewSelfAccess(call: ApiCall): Reply {
  const review = read(call);
  const errors = new FieldErrors();
  validateAttributes(review, errors);
  return allowed(call, review, errors);
}

export function reviewAccess(call: ApiCall): Reply {
  const review = read(call);
  const errors = new FieldErrors();
  validateAttributes(review, errors);
  validateSubject(review, errors);
  return allowed(call, review, errors);
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
  return allowed(call, review, errors);
}

export function reviewRules(call: ApiCall): Reply {
  const review = read(call);
  if (!review.spec.namespace) throw badRequest("no namespace on request");
  review.status = {
    resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
    nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
    incomplete: false,
  };
  return valueReply(201, review);
}

export function reviewSelf(call: ApiCall): Reply {
  const review = read(call);
  review.status = { userInfo: USER };
  return valueReply(201, review);
}

/** Any token is somebody's: the server asks for none. */
export function reviewToken(call: ApiCall): Reply {
  const review = read(call);
  review.status = { authenticated: true, user: USER };
  return valueReply(201, review);
}

function read(call: ApiCall): AccessReview {
  const review = decodeRequestObject(call, readWriteOptions(call, "CreateOptions")) as AccessReview;
  delete review.metadata.managedFields;
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

function allowed(call: ApiCall, review: AccessReview, errors: FieldErrors): Reply {
  if (!errors.isEmpty) throw invalid({ group: call.target.resource.group, kind: "" }, "", errors);
  review.status = { allowed: true };
  return valueReply(201, review);
}
