import type { FaultPlan, StoredChange, Violation } from "@kubewright/simulation";
import {
  notableChanges,
  type Sentence,
  sinceText,
  type NarrativeSection,
  violationText,
} from "@kubewright/timeline/data";

import { fieldsOf } from "./object-fields.js";
import { cacheDifferences, cachedViewAt } from "./cached-view.js";
import { isLasting, planSentences } from "./plan-sentences.js";
import type { RunObject } from "./run-objects.js";
import { type TraceStep, isWrite } from "./trace-steps.js";

/** Sentences that lead up to what went wrong. */
const MAX_BEFORE = 14;
/** Objects of which a controller had another picture. */
const MAX_DIFFERENCES = 4;

/** Changes that one sentence tells of. */
const MAX_CHANGES = 6;
/** Happenings that go on: the latest. */
const MAX_ONGOING_EVENTS = 5;

export interface NarrativeInput {
  readonly plan: FaultPlan;
  /** Those that the page has. */
  readonly steps: readonly TraceStep[];
  /** What writes were decided by. */
  readonly decisions: ReadonlyMap<TraceStep, TraceStep>;
  readonly violation: Violation;
  readonly sentence: string | undefined;
  readonly concerned: ReadonlySet<RunObject>;
}

export interface Narrative {
  readonly parts: readonly NarrativeSection[];
  /** What is to be looked at. */
  readonly selected: RunObject | undefined;
}

/** Tells what was stored, what the controller believed, what it did and what should have held, for who sees nothing else. */
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
              // Who has no caches asks the API server, and believes what it says.
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
        { text: `It did not at ${at(steps[moment]!.atMs)}: ${violationText(violation)}.`, step: moment },
      ],
    },
  ];
  return {
    parts: parts.filter(({ sentences }) => sentences.length > 0),
    selected: differences[0]?.object ?? about,
  };
}

/**
 * What it comes down to: the write of a controller that the violation was found at, or the last one before. Where it was found
 * because nothing has happened in time, the last that a controller decided for the object.
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

/** The first step that the controller could not know of when it sent that request. */
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

/** What goes wrong on purpose at that time. */
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

/** What leads up to it: what goes wrong, what users do, what becomes of the objects, answers that were none. */
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
    else if (kind === "happening") add(step.text(), step.scenarioEvent?.phase === "begin");
    else if (object === undefined || !concerned.has(object)) continue;
    else if (kind === "change") {
      const isAbout = object.name === violation.subject;
      const news = changeSummary(change!, isAbout);
      if (news !== undefined) add(`${step.text()}${detailsText(news)}`, isAbout);
    } else if (kind === "answer" && (look === "false" || look === "lost")) add(withDetails(step));
    else if (kind === "answer" && look === "refused" && isWrite(step.request)) add(withDetails(step), false);
  }
  let left = Math.max(0, found.length - MAX_BEFORE);
  // Of more than there is room for, other objects go first, and then what is long ago.
  const shown = found.filter(({ isAbout }) => isAbout || left-- <= 0);
  const sentences = shown.slice(-MAX_BEFORE).map(({ sentence }) => sentence);
  const omitted = found.length - sentences.length;
  return omitted === 0
    ? sentences
    : [{ text: `${omitted} earlier or less important steps are omitted here; the timeline shows them.` }, ...sentences];
}

/** What makes a change worth telling; `undefined`: nothing does. */
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
