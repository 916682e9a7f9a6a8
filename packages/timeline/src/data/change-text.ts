import type { Fields } from "./recorded-run.js";

/** Paths that record times, counts and identifiers, but not the content of a change. */
const NOISE =
  /(?:Time|Timestamp|lastProbeTime|observedGeneration|\.(?:uid|hostIP|podIP|podIPs|hostIPs|containerID|imageID|qosClass|image|started|ready|generation))$|^metadata\.resourceVersion|conditions\[.*\]\.(?:type|reason|message)$|^status\.(?:ready|terminating)$|^metadata\.ownerReferences\[.*\]\.(?:apiVersion|kind|controller|blockOwnerDeletion)$/;
/** Order of importance: paths that match an earlier pattern are listed first. */
const WEIGHTS: readonly RegExp[] = [
  /^metadata\.deletionTimestamp$/,
  /^status\.conditions\[(?:Complete|Failed|FailureTarget|SuccessCriteriaMet|Suspended)\]\.status$/,
  /^status\.(?:phase|active|succeeded|failed|completedIndexes|failedIndexes)$/,
  /^spec\.(?!nodeName$)/,
  /^status\.uncounted/,
  /^metadata\.(?:finalizers|labels|annotations|ownerReferences)/,
  /^status\.[^.[]+$/,
  /^status\.conditions\[.*\]\.status$/,
];
/** Ranks below this value are notable for every object. */
const NOTABLE_PATHS = 4;
const MAX_CHANGES = 5;

/**
 * Returns the changes from one version to another as short texts: `active: 1 → 2`. At most `max` changes are listed.
 */
export function changesBetween(before: Fields, after: Fields, max = MAX_CHANGES): string[] {
  const ranked = rankedChanges(before, after);
  const texts = ranked.slice(0, max).map(({ path }) => changeText(path, before[path], after[path]));
  return ranked.length > max ? [...texts, `and ${ranked.length - max} more`] : texts;
}

/** Sorts paths by importance. Paths that match `NOISE` come last. */
export function byWeight(paths: readonly string[]): string[] {
  const rank = (path: string): number => (NOISE.test(path) && path !== DELETION ? Infinity : rankOf(path));
  return paths
    .map((path) => ({ path, rank: rank(path) }))
    .sort((a, b) => (a.rank === b.rank ? 0 : a.rank - b.rank))
    .map(({ path }) => path);
}

/**
 * Returns the changes that matter to an observer of the object.
 *
 * @param isClosely - Whether to return all changes, the most important ones first.
 */
export function notableChanges(before: Fields, after: Fields, isClosely = false): string[] {
  const min = isClosely ? Infinity : NOTABLE_PATHS;
  return rankedChanges(before, after)
    .filter(({ rank }) => rank < min)
    .map(({ path }) => changeText(path, before[path], after[path]));
}

function rankedChanges(before: Fields, after: Fields): { readonly path: string; readonly rank: number }[] {
  return Object.keys({ ...before, ...after })
    .filter((path) => before[path] !== after[path] && (!NOISE.test(path) || path === DELETION))
    .map((path) => ({ path, rank: rankOf(path) }))
    .sort((a, b) => a.rank - b.rank);
}

function rankOf(path: string): number {
  const rank = WEIGHTS.findIndex((weight) => weight.test(path));
  return rank === -1 ? WEIGHTS.length : rank;
}

const DELETION = "metadata.deletionTimestamp";

function changeText(path: string, before: string | undefined, after: string | undefined): string {
  if (path === DELETION) return "it is being deleted";
  const condition = /^status\.conditions\[(.*)\]\.status$/.exec(path)?.[1];
  const what = condition === undefined ? path.replace(/^status\./, "") : `condition ${condition}`;
  return `${what}: ${before ?? "none"} → ${after ?? "none"}`;
}
