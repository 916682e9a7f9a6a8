import type { Option } from "../shell/command.js";

/** The options with which `run --seeds` and `fuzz` run their seeds on a cluster. */
export const INDEXED_JOB_OPTIONS: readonly Option[] = [
  [
    "--indexed-job <image>",
    "do not simulate: print a Job that runs the seeds on a cluster, in one chunk for each index; see docs/indexed-jobs.md",
  ],
  ["--chunks <number>", "with --indexed-job: number of chunks (default: 500 seeds each, 1000 chunks at most)"],
  [
    "--inputs <folder>",
    "with --indexed-job: folder of the image that has the input files (default: a ConfigMap has them)",
  ],
  ["--results <volume>", "with --indexed-job: volume for the complete result of each chunk: claim:NAME or host:/PATH"],
  ["--chunk <index/number>", "run only this chunk of the seeds, counted from 0: 7/20"],
  ["--summary <file>", "also write a summary of one line, at most 4,096 bytes: the limit of termination messages"],
  ["--fail-exit <status>", "status for findings, 3 to 125; status 1 then means a failure (default: 1)"],
];
