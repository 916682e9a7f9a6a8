import type { Invariant, InvariantChecks } from "../invariant.js";
import type { AnsweredRequest } from "../world.js";
import { isFromController, isFromElection } from "./stored-objects.js";

export const noInvalidWrite: Invariant = {
  name: "S9 no invalid write",
  sentence:
    "The API server never rejects a request of a controller or of a leader candidate as bad, invalid or forbidden, except for a quota, a webhook or a namespace that is being deleted.",
  watch(_world, violated): InvariantChecks {
    return {
      onAnswer(request) {
        if (request.injected || !(isFromController(request) || isFromElection(request))) return;
        if (request.code !== 400 && request.code !== 422 && request.code !== 403) return;
        if (isPermitted(request)) return;
        violated(
          targetOf(request),
          `${request.component} is answered ${request.code} to ${request.verb} ${resourceOf(request)}: ${request.message ?? ""}`,
        );
      },
    };
  },
};

/** Reports whether a refusal results from a concurrent change that did not exist when the request was sent. */
function isPermitted({ code, message = "", verb }: AnsweredRequest): boolean {
  if (code === 403)
    return /exceeded quota|is being terminated|denied the request|unable to create new content in namespace/.test(
      message,
    );
  if (code !== 422) return false;
  // The patch has a UID precondition; another object of that name must not be patched.
  if (verb === "patch" && /metadata\.uid: Invalid value/.test(message)) return true;
  // Of two controllers that adopt a pod, the second gets this response.
  if (verb === "patch" && /Only one reference can have Controller set to true/.test(message)) return true;
  // Adoption adds a finalizer, which is refused for a pod that was deleted just before.
  return /no new finalizers can be added if the object is being deleted/.test(message);
}

/** Errors that only a programming mistake causes. */
const MISTAKES: ReadonlySet<string> = new Set([
  "TypeError",
  "ReferenceError",
  "RangeError",
  "SyntaxError",
  "URIError",
  "EvalError",
  "AssertionError",
]);

export const noCrash: Invariant = {
  name: "S10 no crash",
  sentence: "No controller throws an error that shows a programming mistake, such as a TypeError.",
  watch(_world, violated): InvariantChecks {
    return {
      onError({ component, error }) {
        const mistake = mistakeIn(error);
        if (mistake !== undefined) violated(component, `throws ${mistake}`);
      },
    };
  },
};

/** Returns the programming mistake that an error is, or is caused by. */
function mistakeIn(error: unknown, depth = 0): string | undefined {
  if (!(error instanceof Error)) return `what is no error: ${String(error)}`;
  if (MISTAKES.has(error.name)) return `${error.name}: ${error.message}`;
  if (depth > 10) return undefined;
  const causes = error instanceof AggregateError ? (error.errors as unknown[]) : [];
  for (const cause of error.cause === undefined ? causes : [error.cause, ...causes]) {
    const mistake = cause instanceof Error ? mistakeIn(cause, depth + 1) : undefined;
    if (mistake !== undefined) return mistake;
  }
  return undefined;
}

/** Returns the target of a request: `jobs default/pi`. */
export function targetOf({ resource, namespace, name, body }: AnsweredRequest): string {
  const named = name || nameIn(body);
  return `${resource} ${namespace === "" ? named : `${namespace}/${named}`}`;
}

function nameIn(body: unknown): string {
  const metadata = (
    body as { readonly metadata?: { readonly name?: string; readonly generateName?: string } } | undefined
  )?.metadata;
  return metadata?.name ?? metadata?.generateName ?? "";
}

function resourceOf({ resource, subresource }: AnsweredRequest): string {
  return subresource === "" ? resource : `${resource}/${subresource}`;
}
