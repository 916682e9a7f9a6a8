import type { KubernetesObject } from "@kubewright/api";

import type { ApiCall } from "./api-call.js";
import { badRequest, invalid } from "./api-error.js";
import type { AccessAttributes, RequestUser } from "./authorization/authorizer.js";
import { type Awaitable, andThen } from "./awaitable.js";
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

/**
 * Serves a SelfSubjectAccessReview: whether the caller may do something. Upstream: `pkg/apis/authorization/validation`.
 */
export function reviewSelfAccess(call: ApiCall): Awaitable<Reply> {
  return serveReview(call, {
    check: (review) => throwIfInvalid(call, (errors) => validateAttributes(review, errors)),
    answer: (review) => decision(call, review, call.user),
  });
}

export function reviewAccess(call: ApiCall): Awaitable<Reply> {
  return serveReview(call, {
    check: (review) =>
      throwIfInvalid(call, (errors) => {
        validateAttributes(review, errors);
        validateSubject(review, errors);
      }),
    answer: (review) => decision(call, review, subjectOf(review)),
  });
}

export function reviewLocalAccess(call: ApiCall): Awaitable<Reply> {
  const { namespace } = call.target;
  return serveReview(call, {
    prepare: ({ metadata }) => {
      if (metadata.namespace && metadata.namespace !== namespace)
        throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
      metadata.namespace = namespace;
    },
    check: (review) =>
      throwIfInvalid(call, (errors) => {
        validateAttributes(review, errors);
        validateSubject(review, errors);
        if (review.spec.resourceAttributes?.namespace !== namespace)
          errors.invalid(
            "spec.resourceAttributes.namespace",
            review.spec.resourceAttributes?.namespace ?? "",
            "must match metadata.namespace",
          );
      }),
    answer: (review) => decision(call, review, subjectOf(review)),
  });
}

export function reviewRules(call: ApiCall): Awaitable<Reply> {
  return serveReview(call, {
    check: ({ spec }) => {
      if (!spec.namespace) throw badRequest("no namespace on request");
    },
    answer: ({ spec }) => call.server.access.rulesFor(call.user, spec.namespace!),
  });
}

export function reviewSelf(call: ApiCall): Awaitable<Reply> {
  return serveReview(call, { answer: () => ({ userInfo: call.user }) });
}

/** Serves a TokenReview. Without authentication every token is valid. */
export function reviewToken(call: ApiCall): Awaitable<Reply> {
  return serveReview(call, {
    check: ({ spec }) => {
      if (!spec.token) throw badRequest("token is required for TokenReview in authentication");
    },
    answer({ spec: { token = "", audiences = [] } }) {
      const { authenticator, serviceAccounts } = call.server.access;
      const requestedAudiences = audiences.length > 0 ? audiences : [serviceAccounts.issuer];
      const user =
        authenticator.userOfToken(token, requestedAudiences) ??
        (authenticator.isEnabled
          ? undefined
          : authenticator.authenticate({ authorization: `Bearer ${token}` }, undefined));
      return user === undefined
        ? { user: {}, error: "invalid bearer token" }
        : { authenticated: true, user, audiences: requestedAudiences };
    },
  });
}

/** Handling of one kind of review. */
interface Review {
  readonly prepare?: (review: AccessReview) => void;
  /** @throws ApiError when the review is invalid. */
  readonly check?: (review: AccessReview) => void;
  /** Returns the status of the review. */
  readonly answer: (review: AccessReview) => object;
}

function serveReview(call: ApiCall, { prepare, check, answer }: Review): Awaitable<Reply> {
  const options = readWriteOptions(call, "CreateOptions");
  const sent = decodeRequestObject(call, options) as AccessReview;
  delete sent.metadata.managedFields;
  // Go's struct exists even when the client sent no spec.
  sent.spec ??= {};
  prepare?.(sent);
  const admitted = call.server.admission.admit(call, options, sent, (review) => check?.(review));
  return andThen(admitted, (review) => {
    review.status = answer(review);
    return valueReply(201, review);
  });
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

/** @throws ApiError 422 with all validation errors. */
function throwIfInvalid({ target }: ApiCall, validate: (errors: FieldErrors) => void): void {
  const errors = new FieldErrors();
  validate(errors);
  if (!errors.isEmpty) throw invalid({ group: target.resource.group, kind: "" }, "", errors);
}

function decision({ server }: ApiCall, review: AccessReview, user: RequestUser): object {
  const { allowed, reason } = server.access.decide(attributesOf(review, user));
  return { allowed, ...(reason === "" ? {} : { reason }) };
}

function subjectOf({ spec: { user = "", uid, groups = [], extra } }: AccessReview): RequestUser {
  return {
    username: user,
    groups,
    ...(uid === undefined ? {} : { uid }),
    ...(extra === undefined ? {} : { extra }),
  };
}

function attributesOf({ spec }: AccessReview, user: RequestUser): AccessAttributes {
  const { resourceAttributes: attributes, nonResourceAttributes } = spec;
  if (attributes === undefined)
    return { user, verb: nonResourceAttributes?.verb ?? "", path: nonResourceAttributes?.path ?? "" };
  const {
    verb = "",
    group = "",
    version = "",
    resource = "",
    subresource = "",
    namespace = "",
    name = "",
  } = attributes;
  return { user, verb, path: "", resource: { group, version, resource, subresource, namespace, name } };
}
