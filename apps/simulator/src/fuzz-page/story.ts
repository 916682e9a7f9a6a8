import type { FaultPlan, StoredChange, Violation } from "@kubewright/simulation";
import {
  notableChanges,
  type Sentence,
  sinceText,
  type NarrativeSection,
  violationText,
} from "@kubewright/timeline/data";

import { fieldsOf } from "./object-fields.js";
import { differencesIn, picturesAt } from "./pictures.js";
import { isLasting, planSentences } from "./plan-words.js";
import type { SeenObject } from "./seen-objects.js";
import { type ToldStep, isWrite } from "./told-steps.js";

/** Sentences that lead up to what went wrong. */
const MOST_BEFORE = 14;
/** Objects of which a controller had another picture. */
const MOST_PICTURES = 4;

/** Changes that one sentence tells of. */
const MOST_NEWS = 6;
/** Happenings that go on: the latest. */
const MOST_MEANWHILE = 5;

export interface StoryInput {
  readonly plan: FaultPlan;
  /** Those that the page has. */
  readonly steps: readonly ToldStep[];
  /** What writes were decided by. */
  readonly decisions: ReadonlyMap<ToldStep, ToldStep>;
  readonly violation: Violation;
  readonly sentence: string | undefined;
  readonly concerned: ReadonlySet<SeenObject>;
}

export interface Story {
  readonly parts: readonly NarrativeSection[];
  /** What is to be looked at. */
  readonly selected: SeenObject | undefined;
}

/** Tells what was stored, what the controller believed, what it did and what should have held, for who sees nothing else. */
export function storyOf(input: StoryInput): Story {
  const { plan, steps, decisions, violation, sentence, concerned } = input;
  const startMs = Date.parse(plan.start);
  const moment = Math.max(
    0,
    steps.findIndex((step) => step.violation === violation),
  );
  const about = [...concerned].findLast(({ name }) => name === violation.subject);
  const culprit = culpritOf(steps, moment, { about, concerned });
  const by = culprit === undefined ? undefined : decisions.get(steps[culprit]!);
  const decision = by === undefined ? undefined : steps.indexOf(by);
  const at = (atMs: number): string => sinceText(atMs, startMs);
  const begun = decision ?? (culprit === undefined ? undefined : whenSent(steps, culprit));
  const actor = culprit === undefined ? "" : steps[culprit]!.actor!;
  const pictures = begun === undefined ? undefined : picturesAt(steps, begun, actor);
  const differences = (pictures === undefined ? [] : differencesIn(pictures, concerned, at)).sort(
    (a, b) => Number(b.object === about) - Number(a.object === about),
  );
  const parts: NarrativeSection[] = [
    { title: "What is played", sentences: planSentences(plan).map((text) => ({ text })) },
    { title: "What happened before", sentences: before(input, begun ?? moment) },
    ...(culprit === undefined || begun === undefined
      ? []
      : [
          {
            title: `What ${actor} believed`,
            sentences: [
              // Who has no caches asks the API server, and believes what it says.
              ...(pictures!.resources.size === 0
                ? []
                : believed(steps[decision ?? culprit]!, decision ?? culprit, differences, at)),
              ...meanwhile(plan, steps, begun, at),
            ],
          },
          {
            title: steps[culprit]!.kind === "decision" ? "What it did last" : "What it did",
            sentences: did(steps, decision, culprit),
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
function culpritOf(
  steps: readonly ToldStep[],
  moment: number,
  { about, concerned }: { readonly about: SeenObject | undefined; readonly concerned: ReadonlySet<SeenObject> },
): number | undefined {
  const controllers = new Set(
    steps.flatMap(({ kind, actor }) => (kind === "cache" && actor !== undefined ? [actor] : [])),
  );
  const last = (isIt: (step: ToldStep) => boolean): number | undefined => {
    const found = steps.slice(0, moment).findLastIndex(isIt);
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
  const isFoundAtOnce = steps[moment - 1]?.atMs === steps[moment]!.atMs;
  if (isFoundAtOnce) return written;
  return last(({ kind, object }) => kind === "decision" && object !== undefined && object === about) ?? written;
}

/** The first step that the controller could not know of when it sent that request. */
function whenSent(steps: readonly ToldStep[], written: number): number {
  const { atMs, request } = steps[written]!;
  let place = written;
  while (place > 0 && steps[place - 1]!.atMs > (request?.sentMs ?? atMs)) place--;
  return place;
}

function believed(
  { actor, atMs: madeMs, request }: ToldStep,
  step: number,
  differences: readonly { readonly text: string }[],
  time: (atMs: number) => string,
): Sentence[] {
  const atMs = request?.sentMs ?? madeMs;
  if (differences.length === 0)
    return [{ text: `At ${time(atMs)} the caches of ${actor} showed all of these objects as they were stored.`, step }];
  const told = differences
    .slice(0, MOST_PICTURES)
    .map(({ text }): Sentence => ({ text: `At ${time(atMs)} ${actor} believed that ${text}.`, step }));
  const left = differences.length - told.length;
  return left === 0 ? told : [...told, { text: `So it was with ${left} more of these objects.`, step }];
}

/** What goes wrong on purpose at that time. */
function meanwhile(
  plan: FaultPlan,
  steps: readonly ToldStep[],
  until: number,
  time: (atMs: number) => string,
): Sentence[] {
  const going = new Map<number, number>();
  for (const [index, { happening }] of steps.slice(0, until).entries()) {
    if (happening === undefined || !isLasting(plan, happening.index)) continue;
    if (happening.phase === "begin") going.set(happening.index, index);
    else going.delete(happening.index);
  }
  const latest = [...going.values()].slice(-MOST_MEANWHILE);
  return latest.map((index) => ({
    text: `Meanwhile, since ${time(steps[index]!.atMs)}: ${steps[index]!.text()}.`,
    step: index,
  }));
}

function did(steps: readonly ToldStep[], decision: number | undefined, culprit: number): Sentence[] {
  return (decision === undefined ? [culprit] : [decision, culprit]).map((step) => {
    const { atMs, text, change, kind, more } = steps[step]!;
    const details = change === undefined ? (kind === "answer" ? more?.() : undefined) : newsIn(change, true);
    return { atMs, text: `${text()}${detailsText(details)}.`, step };
  });
}

/** What leads up to it: what goes wrong, what users do, what becomes of the objects, answers that were none. */
function before({ steps, violation, concerned }: StoryInput, until: number): Sentence[] {
  const lives = new Map<string, number>();
  const found: { readonly sentence: Sentence; readonly isAbout: boolean }[] = [];
  for (const [index, step] of steps.slice(0, until).entries()) {
    const { kind, look, actor, life, object, change } = step;
    const add = (text: string, isAbout = true): void =>
      void found.push({ sentence: { atMs: step.atMs, text: `${text}.`, step: index }, isAbout });
    if (actor !== undefined && life !== undefined && life > (lives.get(actor) ?? 0)) {
      if (life > 1) add(`${actor} is there again, in life ${life}, and remembers nothing`);
      lives.set(actor, life);
    }
    if (kind === "note" || kind === "error") add(withDetails(step));
    else if (kind === "happening") add(step.text(), step.happening?.phase === "begin");
    else if (object === undefined || !concerned.has(object)) continue;
    else if (kind === "change") {
      const isAbout = object.name === violation.subject;
      const news = newsIn(change!, isAbout);
      if (news !== undefined) add(`${step.text()}${detailsText(news)}`, isAbout);
    } else if (kind === "answer" && (look === "false" || look === "lost")) add(withDetails(step));
    else if (kind === "answer" && look === "refused" && isWrite(step.request)) add(withDetails(step), false);
  }
  let left = Math.max(0, found.length - MOST_BEFORE);
  // Of more than there is room for, other objects go first, and then what is long ago.
  const shown = found.filter(({ isAbout }) => isAbout || left-- <= 0);
  const told = shown.slice(-MOST_BEFORE).map(({ sentence }) => sentence);
  const omitted = found.length - told.length;
  return omitted === 0
    ? told
    : [{ text: `${omitted} earlier or lesser things are left out here; the timeline has them.` }, ...told];
}

/** What makes a change worth telling; `undefined`: nothing does. */
function newsIn({ type, object, previous }: StoredChange, isClosely: boolean): string | undefined {
  if (type !== "MODIFIED" || previous === undefined) return "";
  const news = notableChanges(fieldsOf(previous), fieldsOf(object), isClosely).slice(0, MOST_NEWS);
  return news.length === 0 ? undefined : news.join("; ");
}

function withDetails({ text, more }: ToldStep): string {
  return `${text()}${detailsText(more?.())}`;
}

function detailsText(details: string | undefined): string {
  return details === undefined || details === "" ? "" : `: ${details}`;
}
