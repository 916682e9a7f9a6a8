import type { DeepReadonly, Event, KubernetesObject } from "@kubewright/api";
import { errorMessage } from "@kubewright/client";
import { formatDuration } from "@kubewright/clock";

import type { Backend } from "./backend.js";
import type { Check } from "./checks.js";
import { eventText, stateText } from "./object-text.js";

/**
 * A condition. It is not met while the function throws, or returns or resolves to `false` or a failed {@link Check}.
 */
export type ConditionFunc<T> = () => T | Promise<T>;

export interface EventuallyContext {
  readonly backend: Pick<Backend, "against" | "clock" | "step" | "settle">;
  /** @throws the error of a component that has failed in the meantime. */
  readonly check: () => void;
  /** Called before each evaluation of the condition. */
  readonly onAttempt: () => void;
  /** Returns the objects that the condition read last. */
  readonly relatedObjects: () => Promise<readonly RelatedObject[]>;
}

export interface RelatedObject {
  readonly object: DeepReadonly<KubernetesObject>;
  readonly events: readonly DeepReadonly<Event>[];
}

/** A condition was not met in time. */
export class NotInTimeError extends Error {
  override readonly name = "NotInTimeError";
}

/**
 * Advances the time from one due time to the next until the condition is met.
 *
 * @returns The value of the condition.
 * @throws NotInTimeError with the last reason and the state of the related objects.
 */
export async function eventually<T>(
  condition: ConditionFunc<T>,
  withinMs: number,
  { backend, check, onAttempt, relatedObjects }: EventuallyContext,
): Promise<Exclude<T, false>> {
  const { clock } = backend;
  const startMs = clock.monotonic();
  for (let steps = 0; ; steps++) {
    await backend.settle();
    check();
    onAttempt();
    const outcome = await attempt(condition);
    if (outcome.isMet) return outcome.value as Exclude<T, false>;
    const leftMs = startMs + withinMs - clock.monotonic();
    if (leftMs > 0) {
      await backend.step(leftMs);
      continue;
    }
    const time = backend.against === "kube-apiserver" ? "real time" : "virtual time";
    const waited = `within ${formatDuration(withinMs)} of ${time} (now ${new Date(clock.now()).toISOString()}, looked ${steps + 1} times)`;
    const objects = (await relatedObjects()).map(relatedObjectText);
    throw new NotInTimeError([`${outcome.reason}\n\nThat was so ${waited}.`, ...objects].join("\n"), {
      cause: outcome.error,
    });
  }
}

type Outcome<T> =
  | { readonly isMet: true; readonly value: T }
  | { readonly isMet: false; readonly reason: string; readonly error?: unknown };

async function attempt<T>(condition: ConditionFunc<T>): Promise<Outcome<T>> {
  try {
    const value = await condition();
    if (value === false) return { isMet: false, reason: `${sourceOf(condition)} is false` };
    if (isCheck(value) && !value.pass) return { isMet: false, reason: value.message };
    return { isMet: true, value };
  } catch (error) {
    return { isMet: false, reason: errorMessage(error), error };
  }
}

function isCheck(value: unknown): value is Check {
  // Results of some matchers throw when a missing property is read.
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, "pass")) return false;
  const { pass, message } = value as Partial<Check>;
  return typeof pass === "boolean" && typeof message === "string";
}

/** Returns the source text of a short condition. */
function sourceOf(condition: ConditionFunc<unknown>): string {
  const text = condition.toString().replace(/^(async )?\(\) => /, "");
  return text.length <= 120 && !text.includes("\n") ? text : "the condition";
}

function relatedObjectText({ object, events }: RelatedObject): string {
  const { namespace, name = "" } = object.metadata;
  const key = namespace === undefined ? name : `${namespace}/${name}`;
  const eventLines = events.map((event) => `\n    ${eventText(event)}`).join("");
  return `  ${object.kind ?? "object"} ${key}: ${stateText(object)}${eventLines}`;
}
