import { errorMessage } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";
import type { Logger } from "@kubewright/controller";

import type { RequestAuthenticator } from "./authenticator.js";
import type { AccessDecision, AccessRequest, RequestAuthorizer } from "./authorizer.js";
import {
  BodyTooLongError,
  type HttpHandler,
  type HttpReply,
  type HttpRequest,
  failureReply,
  header,
  textReply,
} from "./http-message.js";

export interface SecuredOptions {
  readonly authenticator: Pick<RequestAuthenticator, "authenticate">;
  readonly authorizer: Pick<RequestAuthorizer, "authorize">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Wraps a handler with authentication and authorization, with the responses of kube-controller-manager. Logs every
 * request at debug level.
 *
 * @see kubernetes v1.36 staging/src/k8s.io/controller-manager/app/serve.go BuildHandlerChain
 */
export function secured(inner: HttpHandler, { authenticator, authorizer, clock, logger }: SecuredOptions): HttpHandler {
  const answer = async (request: HttpRequest): Promise<HttpReply> => {
    const identity = await authenticator.authenticate(request);
    if ("error" in identity) {
      logger.error({ err: identity.error }, "Unable to authenticate the request");
      return failureReply(401, "Unauthorized", "Unauthorized");
    }
    const access: AccessRequest = { user: identity.user, verb: request.method.toLowerCase(), path: request.path };
    let decision: AccessDecision;
    try {
      decision = await authorizer.authorize(access);
    } catch (error) {
      const message = errorMessage(error);
      logger.error({ err: message, URI: request.target }, "Unable to authorize the request");
      return textReply(
        500,
        `Internal Server Error: ${sanitized(JSON.stringify(request.target))}: ${sanitized(message)}\n`,
      );
    }
    if (decision.decision !== "allowed") {
      logger.debug({ URI: request.target, reason: decision.reason }, "Forbidden");
      return failureReply(403, "Forbidden", forbidden(access, decision.reason), {});
    }
    return inner(request);
  };
  return async (request) => {
    const startMs = clock.monotonic();
    let reply: HttpReply;
    try {
      reply = await answer(request);
    } catch (error) {
      if (error instanceof BodyTooLongError) reply = textReply(413, `${error.message}\n`);
      else {
        logger.error({ err: error, URI: request.target }, "Observed a panic");
        reply = textReply(500, "This request caused apiserver to panic. Look in the logs for details.\n");
      }
    }
    logger.debug(
      {
        verb: request.method,
        URI: request.target,
        latency: `${(clock.monotonic() - startMs).toFixed(3)}ms`,
        userAgent: header(request, "user-agent") ?? "",
        srcIP: request.remoteAddress,
        resp: reply.status,
      },
      "HTTP",
    );
    return { ...reply, headers: { "cache-control": "no-cache, private", ...reply.headers } };
  };
}

/** @see kubernetes v1.36 staging/src/k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go */
function forbidden({ user, verb, path }: AccessRequest, reason: string): string {
  const message = `User ${JSON.stringify(user.username)} cannot ${verb} path ${JSON.stringify(path)}`;
  return `forbidden: ${sanitized(message)}${reason === "" ? "" : `: ${reason}`}`;
}

/** Escapes HTML, so that no client interprets a response as HTML. */
function sanitized(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
