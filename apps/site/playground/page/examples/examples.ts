import backOff from "./back-off.yaml";
import dstBackward from "./dst-backward.yaml";
import dstForward from "./dst-forward.yaml";
import edited from "./edited.yaml";
import forbidOverrun from "./forbid-overrun.yaml";
import indexed from "./indexed.yaml";
import missed100 from "./missed-100.yaml";
import nodeLost from "./node-lost.yaml";
import successPolicy from "./success-policy.yaml";
import weekendOutage from "./weekend-outage.yaml";

export interface Example {
  /** Name in links: `#example=forbid-overrun`. */
  readonly name: string;
  readonly question: string;
  readonly manifests: string;
  readonly scenario: string;
}

/** Separator between the manifests and the scenario in an example's file. */
const SCENARIO = "\n--- # scenario\n";

/** One example for each common question. */
export const EXAMPLES: readonly Example[] = [
  example("forbid-overrun", "What if a run takes longer than its interval?", forbidOverrun),
  example("dst-forward", "What runs in the night the clocks go forward?", dstForward),
  example("dst-backward", "And in the night they go back?", dstBackward),
  example("weekend-outage", "What runs after a weekend without controllers?", weekendOutage),
  example("missed-100", "Does it stop after 100 missed runs?", missed100),
  example("back-off", "How does back-off count?", backOff),
  example("indexed", "What if some indexes fail?", indexed),
  example("success-policy", "When is a Job a success early?", successPolicy),
  example("node-lost", "What if a node is lost in the middle of a run?", nodeLost),
  example("edited", "What does an edited schedule do?", edited),
];

function example(name: string, question: string, text: string): Example {
  const [manifests = "", scenario = ""] = text.split(SCENARIO);
  return { name, question, manifests: `${manifests.trimEnd()}\n`, scenario };
}
