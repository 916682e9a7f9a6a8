/**
 * What is on the site and where. A page is a document of the checkout, whose route is its path, or one that the build writes
 * (`generated`).
 */
import path from "node:path";

import { publicPackages } from "../../../tooling/public-packages.ts";

export interface SitePage {
  readonly title: string;
  /** Such as `concepts/queue`; the start page is `index`. */
  readonly route: string;
  /** The document, from the root of the checkout. Absent: the build writes the page. */
  readonly source?: string;
}

export interface Section {
  readonly title: string;
  readonly pages: readonly SitePage[];
  /** Whether it is looked things up in, and stands in a bar of its own. Default: no. */
  readonly isReference?: boolean;
}

const document = (title: string, source: string, route = withoutFolder(source)): SitePage => ({ title, route, source });

function withoutFolder(source: string): string {
  return source.replace(/^docs\//, "").replace(/\.md$/, "");
}

export const COMMANDS = ["run", "lint", "spread", "learn", "schedule", "why", "serve", "fuzz", "collect"] as const;

/** The files by which other programs read and write what kubewright does. */
export const SCHEMAS = ["scenario", "trace", "futures", "lint", "spread", "fuzz"] as const;

export const START: SitePage = document("What it is", "docs/index.md");

/** The bars at the left, and the order in which pages follow each other. */
export const SECTIONS: readonly Section[] = [
  {
    title: "Start",
    pages: [
      document("See what your Jobs will do", "docs/start/time-machine.md"),
      document("Install single packages", "docs/start/packages.md"),
      document("Run the controller manager", "docs/start/controller-manager.md"),
      document("Build your own controllers", "docs/start/own-controllers.md"),
    ],
  },
  {
    title: "Concepts",
    pages: [
      document("The work queue", "docs/concepts/queue.md"),
      document("The informer", "docs/concepts/informer.md"),
      document("Expectations", "docs/concepts/expectations.md"),
      document("Tracking by finalizers", "docs/concepts/finalizer-tracking.md"),
      document("Back-off", "docs/concepts/back-off.md"),
      document("Changes of the clock", "docs/concepts/clock-changes.md"),
    ],
  },
  {
    title: "How to",
    pages: [
      document("Why did my CronJob not run?", "docs/how-to/cronjob-did-not-run.md"),
      document("Why did my CronJob run twice?", "docs/how-to/cronjob-ran-twice.md"),
      document("Too many missed start times", "docs/how-to/missed-start-times.md"),
      document("How does the back-off count?", "docs/how-to/count-back-off.md"),
      document("Test an operator", "docs/how-to/test-an-operator.md"),
      document("Leave client-node's informer", "docs/how-to/leave-client-node-informer.md"),
    ],
  },
  {
    title: "The time machine",
    pages: [
      document("What it takes", "docs/input.md"),
      document("Simulated workloads", "docs/simulated-workloads.md"),
      document("The page of a run", "docs/page.md"),
      document("Scenarios", "docs/scenarios.md"),
      document("Every future, and rules", "docs/futures.md"),
      document("One cluster on all cores", "docs/workers.md"),
      document("Seeds on a cluster", "docs/indexed-jobs.md"),
      document("Lint", "docs/lint.md"),
      document("Spread", "docs/spread.md"),
      document("Why", "docs/why.md"),
      document("Fuzz", "docs/fuzz.md"),
      document("The page of a fuzz run", "docs/fuzz-page.md"),
      document("The mutants", "docs/fuzz-mutants.md"),
      document("What seeds reach", "docs/fuzz-reached.md"),
    ],
  },
  {
    title: "Clusters and controllers",
    pages: [
      document("A cluster for tests", "docs/serve.md"),
      document("Operate the manager", "docs/controller-manager.md"),
      document("Hand over", "docs/hand-over.md"),
      document("Share the work", "docs/sharding.md"),
      document("One operator, three ways", "docs/operators.md"),
    ],
  },
  {
    title: "Commands",
    isReference: true,
    pages: [
      ...COMMANDS.map((name) => ({ title: `kubewright ${name}`, route: `reference/commands/${name}` })),
      { title: "The controller manager", route: "reference/commands/controller-manager" },
      { title: "kubewright-operator", route: "reference/commands/operator" },
    ],
  },
  {
    title: "Rules and formats",
    isReference: true,
    pages: [
      { title: "Rules", route: "reference/rules" },
      ...SCHEMAS.map((name) => ({ title: `${name}.schema.json`, route: `reference/${name}` })),
      document("The trace", "docs/trace.md"),
    ],
  },
  {
    title: "Packages",
    isReference: true,
    pages: publicPackages().map(({ manifest, directory }) =>
      document(manifest.name, `${directory}/README.md`, `packages/${manifest.name.replace("@kubewright/", "")}`),
    ),
  },
  {
    title: "How far to trust it",
    pages: [
      document("Fidelity", "docs/fidelity.md"),
      document("Releases of Kubernetes", "docs/versions.md"),
      document("Findings upstream", "docs/upstream-findings.md"),
      document("Beside other tools", "docs/comparison.md"),
      document("Versions and support", "docs/support.md"),
      document("Architecture", "ARCHITECTURE.md", "architecture"),
    ],
  },
];

export const PAGES: readonly SitePage[] = [START, ...SECTIONS.flatMap(({ pages }) => pages)];

/** The page that shows a document, or the README of a folder. */
export function pageOf(source: string): SitePage | undefined {
  const readme = path.posix.join(source, "README.md");
  return PAGES.find((page) => page.source !== undefined && (page.source === source || page.source === readme));
}
