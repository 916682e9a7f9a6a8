import { realClock } from "@kubewright/clock";

import { Findings } from "../input/findings.js";
import { type RunInput, readRunInput } from "../input/run-input.js";
import { startTime } from "../input/run-start.js";
import { validateInput } from "../run/validate-input.js";
import type { SimulationRequest, SimulationRequestOptions } from "./simulation-request.js";
import { ProblemList } from "./problem-list.js";
import { RequestTexts } from "./request-texts.js";

/** A parsed request. */
export interface ReadRequest {
  /** Absent when nothing can be simulated; `problems` has the reason. */
  readonly input?: RunInput;
  readonly texts: RequestTexts;
  readonly problems: ProblemList;
}

export async function readRequest(
  request: SimulationRequest,
  { now = () => realClock.now() }: Pick<SimulationRequestOptions, "now"> = {},
): Promise<ReadRequest> {
  const texts = new RequestTexts(request);
  const problems = new ProblemList(texts);
  try {
    const input = await readRunInput(texts.paths, texts.flags, {
      ...texts.io,
      stopped: new AbortController().signal,
      now,
    });
    return { input, texts, problems };
  } catch (error) {
    problems.addError(error);
  }
  const rest = withoutUnreadable(request, problems);
  if (rest !== undefined) problems.addAll((await tryRequest(rest, { now })).problems);
  return { texts, problems };
}

/** Returns the equivalent command line with the start that the request was read with, without seeds. */
export function commandOf({ texts, input }: ReadRequest): string {
  return texts.command(input?.repeat === undefined ? undefined : startTime(input.startMs));
}

/** Reads a request and validates its objects with the API server. */
export async function tryRequest(
  request: SimulationRequest,
  options: Pick<SimulationRequestOptions, "now"> = {},
): Promise<ReadRequest> {
  const read = await readRequest(request, options);
  const { input, texts, problems } = read;
  if (input === undefined) return read;
  const findings = new Findings(input);
  try {
    await validateInput(input, "", findings);
    problems.add(findings);
    return read;
  } catch (error) {
    problems.add(findings);
    problems.addError(error);
    return { texts, problems };
  }
}

/** Returns the request without the text that cannot be parsed, so that problems of the other texts are reported too. */
function withoutUnreadable(request: SimulationRequest, { all }: ProblemList): SimulationRequest | undefined {
  const unreadable = (["scenario", "workloads"] as const).find(
    (name) => request[name] !== undefined && all.some(({ document }) => document === name),
  );
  if (unreadable === undefined || request.manifests.trim() === "") return undefined;
  const { [unreadable]: _unreadable, ...rest } = request;
  return rest;
}
