import type { DeepReadonly, Event, KubernetesObject } from "@kubewright/api";
import { errorMessage } from "@kubewright/client";
import { formatDuration } from "@kubewright/clock";

import type { Backend } from "./backend.js";
import type { Check } from "./checks.js";
import { eventText, stateText } from "./object-text.js";

/** What is to hold: it does not while this throws, answers `false` or a {@link Check} that does not hold, or promises to. */
export type Condition<T> = () => T | Promise<T>;

export interface EventuallyContext {
  readonly backend: Pick<Backend, "against" | "clock" | "step" | "settle">;
  /** @throws what has failed in the meantime. */
  readonly check: () => void;
  /** Called before the condition is looked at. */
  readonly onAttempt: () => void;
  /** Tells what the condition looked at last. */
  readonly relatedObjects: () => Promise<readonly RelatedObject[]>;
}

export interface RelatedObject {
  readonly object: DeepReadonly<KubernetesObject>;
  readonly events: readonly DeepReadonly<Event>[];
}

/** A condition did not come to hold in time. */
export class NotInTimeError extends Error {
  override readonly name = "NotInTimeError";
}

/**
 * Moves time on, from one time at which something is due to the next, until the condition holds.
 *
 * @returns What it then answers.
 * @throws NotInTimeError that says why it last did not hold, and what its objects look like.
 */
export async function eventually<T>(
  condition: Condition<T>,
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

async function attempt<T>(condition: Condition<T>): Promise<Outcome<T>> {
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
  // What a matcher answers may throw when it is asked for what it does not have.
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, "pass")) return false;
  const { pass, message } = value as Partial<Check>;
  return typeof pass === "boolean" && typeof message === "string";
}

/** A condition in its own words, if they are few. */
function sourceOf(condition: Condition<unknown>): string {
  const text = condition.toString().replace(/^(async )?\(\) => /, "");
  return text.length <= 120 && !text.includes("\n") ? text : "the condition";
}

function relatedObjectText({ object, events }: RelatedObject): string {
  const { namespace, name = "" } = object.metadata;
  const key = namespace === undefined ? name : `${namespace}/${name}`;
  const eventLines = events.map((event) => `\n    ${eventText(event)}`).join("");
  return `  ${object.kind ?? "object"} ${key}: ${stateText(object)}${eventLines}`;
}
