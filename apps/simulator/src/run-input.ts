import { parseDuration } from "./duration.js";
import { parseSeed, parseStart } from "./flag-values.js";
import type { Io } from "./io.js";
import { type Manifest, loadManifests } from "./manifests.js";
import { loadScenario } from "./scenario/load-scenario.js";
import { checkLength } from "./scenario/longest-run.js";
import type { Scenario } from "./scenario/scenario.js";
import { UserError } from "./user-error.js";

/** What is to be played. */
export interface RunInput {
  readonly manifests: readonly Manifest[];
  readonly startMs: number;
  readonly durationMs: number;
  readonly seed: number;
  readonly scenario?: Scenario;
}

export interface RunInputFlags {
  readonly start?: string;
  readonly for?: string;
  readonly seed?: string;
  readonly scenario?: string;
}

const DEFAULT_START = "2026-01-01T00:00:00Z";
const DEFAULT_FOR = "1d";
const DEFAULT_SEED = "1";

/**
 * Reads manifests and, if one is named, a scenario, whose start, length and seed count less than the flags.
 *
 * @throws UserError for whatever cannot be read, or is wrong.
 */
export async function readRunInput(paths: readonly string[], flags: RunInputFlags, io: Io): Promise<RunInput> {
  const startMs = flags.start === undefined ? undefined : parseStart(flags.start);
  const durationMs = flags.for === undefined ? undefined : parseDuration(flags.for, "--for");
  if (durationMs !== undefined) checkLength(durationMs, "--for");
  const seed = flags.seed === undefined ? undefined : parseSeed(flags.seed);
  if (paths.length === 0 && flags.scenario === undefined)
    throw new UserError(
      "name manifest files to play, or a scenario: kubewright run FILE…, kubewright run --scenario FILE",
    );
  const manifests = paths.length === 0 ? [] : await loadManifests(paths, io);
  if (flags.scenario !== undefined) {
    const scenario = await loadScenario(flags.scenario, io, { startMs, durationMs, seed, manifests });
    const { startMs: start, durationMs: length, manifests: all } = scenario;
    return { manifests: all, startMs: start, durationMs: length, seed: scenario.seed, scenario };
  }
  return {
    manifests,
    startMs: startMs ?? parseStart(DEFAULT_START),
    durationMs: durationMs ?? parseDuration(DEFAULT_FOR, "--for"),
    seed: seed ?? parseSeed(DEFAULT_SEED),
  };
}
