import type { Option } from "../shell/command.js";

/** The options with which `run --seeds` and `fuzz` run their seeds on a cluster. */
export const INDEXED_JOB_OPTIONS: readonly Option[] = [
  [
    "--indexed-job <image>",
    "do not simulate: print a Job that runs the seeds on a cluster, in one chunk for each index; see docs/indexed-jobs.md",
  ],
  ["--chunks <number>", "with --indexed-job: number of chunks (default: 500 seeds each, 1000 chunks at most)"],
  ["--inputs <folder>", "with --indexed-job: where the image has what is read (default: a ConfigMap carries it)"],
  ["--results <volume>", "with --indexed-job: where each chunk leaves all of its result: claim:NAME or host:/PATH"],
  ["--chunk <index/number>", "run only this chunk of the seeds, counted from 0: 7/20"],
  ["--summary <file>", "also write what was found on one line of at most 4,096 bytes, as termination messages are"],
  ["--fail-exit <status>", "end with this status for what was found, and with 1 only for what went wrong: 42"],
];
