import { seededRandom } from "@kubewright/clock";
import { expect, test } from "vitest";

import { kindOf } from "../faults/registry.js";
import { drawCronJobs } from "./cron-jobs.js";
import { Draw } from "./draw.js";
import { drawJobs } from "./jobs.js";
import { drawOwnPods } from "./own-pods.js";
import { SHAPES } from "./shape.js";
import { SITUATIONS, type SituationRow } from "./situations.js";
import { Swarm } from "./swarm.js";

/** Returns the kinds of event that a situation has in plans of many seeds. */
function kindsOf(row: SituationRow): ReadonlySet<string> {
  const kinds = new Set<string>();
  for (let seed = 1; seed <= 300; seed++) {
    const draw = new Draw(seededRandom(seed));
    const situation = "vary" in row ? row.vary(draw.fork("situation")) : row;
    const swarm = Swarm.toss(draw.fork("shapes"), SHAPES, () => 0.5)
      .without(situation.without)
      .with(situation.shapes);
    const jobs = drawJobs(draw.fork("jobs"), swarm);
    const { workload } = drawCronJobs(draw.fork("cron jobs"), swarm);
    const pods = drawOwnPods(draw.fork("own pods"), swarm, jobs.subjects);
    const subjects = [jobs, workload, pods].flatMap((part) => part.subjects);
    const context = { subjects, windowMs: 300_000, nodes: 3, replicas: 2 };
    for (const entry of situation.draw(draw.fork("events"), context)) kinds.add(kindOf(entry)!);
  }
  return kinds;
}

test.each(SITUATIONS.map((row, index) => [index, row] as const))(
  "row %i of the table of situations names its faults and user actions",
  (_index, row) => {
    expect([...kindsOf(row)].sort()).toEqual([...row.faults, ...row.actions].sort());
  },
);
