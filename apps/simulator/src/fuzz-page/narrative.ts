import type { FaultPlan, StoredChange, InvariantViolation } from "@kubewright/simulation";
import {
  notableChanges,
  type Sentence,
  sinceText,
  type NarrativeSection,
  invariantViolationText,
} from "@kubewright/timeline/data";

import { fieldsOf } from "./object-fields.js";
import { cacheDifferences, cachedViewAt } from "./cached-view.js";
import { isLasting, planSentences } from "./plan-sentences.js";
import type { RunObject } from "./run-objects.js";
import { type TraceStep, isWrite } from "./trace-steps.js";

/** Maximum number of sentences before the violation. */
const MAX_BEFORE = 14;
/** Maximum number of cached objects that are described as different from the stored ones. */
const MAX_DIFFERENCES = 4;

/** Maximum number of changes in one sentence. */
const MAX_CHANGES = 6;
/** Maximum number of lasting scenario events: the latest. */
const MAX_ONGOING_EVENTS = 5;

export interface NarrativeInput {
  readonly plan: FaultPlan;
  /** The steps on the page. */
  readonly steps: readonly TraceStep[];
  /** The decision that caused each write. */
  readonly decisions: ReadonlyMap<TraceStep, TraceStep>;
  readonly violation: InvariantViolation;
  readonly sentence: string | undefined;
  readonly concerned: ReadonlySet<RunObject>;
}

export interface Narrative {
  readonly parts: readonly NarrativeSection[];
  /** The object that the page selects first. */
  readonly selected: RunObject | undefined;
}

/**
 * Builds a self-contained narrative: the stored objects, the controller's cached view, its writes, and the violated
 * invariant.
 */
export function buildNarrative(input: NarrativeInput): Narrative {
  const { plan, steps, decisions, violation, sentence, concerned } = input;
  const startMs = Date.parse(plan.start);
  const moment = Math.max(
    0,
    steps.findIndex((step) => step.violation === violation),
  );
  const about = [...concerned].findLast(({ name }) => name === violation.subject);
  const cause = causeOf(steps, moment, { about, concerned });
  const by = cause === undefined ? undefined : decisions.get(steps[cause]!);
  const decision = by === undefined ? undefined : steps.indexOf(by);
  const at = (atMs: number): string => sinceText(atMs, startMs);
  const begun = decision ?? (cause === undefined ? undefined : firstStepAfterSend(steps, cause));
  const actor = cause === undefined ? "" : steps[cause]!.actor!;
  const view = begun === undefined ? undefined : cachedViewAt(steps, begun, actor);
  const differences = (view === undefined ? [] : cacheDifferences(view, concerned, at)).sort(
    (a, b) => Number(b.object === about) - Number(a.object === about),
  );
  const parts: NarrativeSection[] = [
    { title: "What is simulated", sentences: planSentences(plan).map((text) => ({ text })) },
    { title: "What happened before", sentences: precedingSentences(input, begun ?? moment) },
    ...(cause === undefined || begun === undefined
      ? []
      : [
          {
            title: `What ${actor} believed`,
            sentences: [
              // An actor without caches reads from the API server and cannot have a stale view.
              ...(view!.resources.size === 0
                ? []
                : cachedViewSentences(steps[decision ?? cause]!, decision ?? cause, differences, at)),
              ...ongoingEventSentences(plan, steps, begun, at),
            ],
          },
          {
            title: steps[cause]!.kind === "decision" ? "What it did last" : "What it did",
            sentences: actionSentences(steps, decision, cause),
          },
        ]),
    {
      title: "What should have held",
      sentences: [
        ...(sentence === undefined ? [] : [{ text: sentence }]),
        { text: `It did not at ${at(steps[moment]!.atMs)}: ${invariantViolationText(violation)}.`, step: moment },
      ],
    },
  ];
  return {
    parts: parts.filter(({ sentences }) => sentences.length > 0),
    selected: differences[0]?.object ?? about,
  };
}

/**
 * Returns the step that caused the violation: the controller's write at which it was found, or the last write before.
 * For a missed deadline, the last decision about the object.
 */
function causeOf(
  steps: readonly TraceStep[],
  moment: number,
  { about, concerned }: { readonly about: RunObject | undefined; readonly concerned: ReadonlySet<RunObject> },
): number | undefined {
  const controllers = new Set(
    steps.flatMap(({ kind, actor }) => (kind === "cache" && actor !== undefined ? [actor] : [])),
  );
  const last = (matches: (step: TraceStep) => boolean): number | undefined => {
    const found = steps.slice(0, moment).findLastIndex(matches);
    return found === -1 ? undefined : found;
  };
  const written = last(
    ({ kind, actor, object, request }) =>
      actor !== undefined &&
      controllers.has(actor) &&
      object !== undefined &&
      concerned.has(object) &&
      (kind === "change" || (kind === "answer" && isWrite(request))),
  );
  const isFoundImmediately = steps[moment - 1]?.atMs === steps[moment]!.atMs;
  if (isFoundImmediately) return written;
  return last(({ kind, object }) => kind === "decision" && object !== undefined && object === about) ?? written;
}

/** Returns the first step that the controller could not observe when it sent the request. */
function firstStepAfterSend(steps: readonly TraceStep[], written: number): number {
  const { atMs, request } = steps[written]!;
  let place = written;
  while (place > 0 && steps[place - 1]!.atMs > (request?.sentMs ?? atMs)) place--;
  return place;
}

function cachedViewSentences(
  { actor, atMs: madeMs, request }: TraceStep,
  step: number,
  differences: readonly { readonly text: string }[],
  time: (atMs: number) => string,
): Sentence[] {
  const atMs = request?.sentMs ?? madeMs;
  if (differences.length === 0)
    return [{ text: `At ${time(atMs)} the caches of ${actor} showed all of these objects as they were stored.`, step }];
  const sentences = differences
    .slice(0, MAX_DIFFERENCES)
    .map(({ text }): Sentence => ({ text: `At ${time(atMs)} ${actor} saw in its caches that ${text}.`, step }));
  const left = differences.length - sentences.length;
  return left === 0 ? sentences : [...sentences, { text: `The same holds for ${left} more of these objects.`, step }];
}

/** Describes the scenario events that last at that time. */
function ongoingEventSentences(
  plan: FaultPlan,
  steps: readonly TraceStep[],
  until: number,
  time: (atMs: number) => string,
): Sentence[] {
  const ongoing = new Map<number, number>();
  for (const [index, { scenarioEvent }] of steps.slice(0, until).entries()) {
    if (scenarioEvent === undefined || !isLasting(plan, scenarioEvent.index)) continue;
    if (scenarioEvent.phase === "begin") ongoing.set(scenarioEvent.index, index);
    else ongoing.delete(scenarioEvent.index);
  }
  const latest = [...ongoing.values()].slice(-MAX_ONGOING_EVENTS);
  return latest.map((index) => ({
    text: `Meanwhile, since ${time(steps[index]!.atMs)}: ${steps[index]!.text()}.`,
    step: index,
  }));
}

function actionSentences(steps: readonly TraceStep[], decision: number | undefined, cause: number): Sentence[] {
  return (decision === undefined ? [cause] : [decision, cause]).map((step) => {
    const { atMs, text, change, kind, more } = steps[step]!;
    const details = change === undefined ? (kind === "answer" ? more?.() : undefined) : changeSummary(change, true);
    return { atMs, text: `${text()}${detailsText(details)}.`, step };
  });
}

/** Describes the steps before the violation: faults, user actions, changes of the objects, and failed requests. */
function precedingSentences({ steps, violation, concerned }: NarrativeInput, until: number): Sentence[] {
  const lives = new Map<string, number>();
  const found: { readonly sentence: Sentence; readonly isAbout: boolean }[] = [];
  for (const [index, step] of steps.slice(0, until).entries()) {
    const { kind, look, actor, life, object, change } = step;
    const add = (text: string, isAbout = true): void =>
      void found.push({ sentence: { atMs: step.atMs, text: `${text}.`, step: index }, isAbout });
    if (actor !== undefined && life !== undefined && life > (lives.get(actor) ?? 0)) {
      if (life > 1) add(`${actor} restarted with empty caches, in life ${life}, and remembers nothing`);
      lives.set(actor, life);
    }
    if (kind === "note" || kind === "error") add(withDetails(step));
    else if (kind === "scenarioEvent") add(step.text(), step.scenarioEvent?.phase === "begin");
    else if (object === undefined || !concerned.has(object)) continue;
    else if (kind === "change") {
      const isAbout = object.name === violation.subject;
      const news = changeSummary(change!, isAbout);
      if (news !== undefined) add(`${step.text()}${detailsText(news)}`, isAbout);
    } else if (kind === "answer" && (look === "false" || look === "lost")) add(withDetails(step));
    else if (kind === "answer" && look === "refused" && isWrite(step.request)) add(withDetails(step), false);
  }
  let left = Math.max(0, found.length - MAX_BEFORE);
  // When there are too many sentences, those about other objects are omitted first, then the earliest.
  const shown = found.filter(({ isAbout }) => isAbout || left-- <= 0);
  const sentences = shown.slice(-MAX_BEFORE).map(({ sentence }) => sentence);
  const omitted = found.length - sentences.length;
  return omitted === 0
    ? sentences
    : [{ text: `${omitted} earlier or less important steps are omitted here; the timeline shows them.` }, ...sentences];
}

/** Summarizes a change; `undefined` when it has no notable change. */
function changeSummary({ type, object, previous }: StoredChange, isClosely: boolean): string | undefined {
  if (type !== "MODIFIED" || previous === undefined) return "";
  const news = notableChanges(fieldsOf(previous), fieldsOf(object), isClosely).slice(0, MAX_CHANGES);
  return news.length === 0 ? undefined : news.join("; ");
}

function withDetails({ text, more }: TraceStep): string {
  return `${text()}${detailsText(more?.())}`;
}

function detailsText(details: string | undefined): string {
  return details === undefined || details === "" ? "" : `: ${details}`;
}
