import type { FaultPlan } from "./fault-plan.js";
import { type CampaignOptions, runCampaign } from "./fuzz/campaign.js";
import type { FuzzReport } from "./fuzz/fuzz-report.js";
import { runAndCompare } from "./fuzz/run-and-compare.js";
import { type GenerateOptions, type CustomWorkload, generatePlan } from "./generate/generate-plan.js";
import type { Invariant } from "./invariant.js";
import { builtInInvariants, genericInvariants } from "./invariants/built-in.js";
import { type RunPlanOptions, runPlan } from "./run-plan.js";

export interface FuzzOptions
  extends
    Omit<CampaignOptions, "seeds" | "makePlan" | "workers">,
    Pick<GenerateOptions, "faults" | "shapes">,
    Pick<RunPlanOptions, "builtIn" | "freeze"> {
  /** Number of seeds, from 1, or a range with both ends included. */
  readonly seeds: number | { readonly from: number; readonly to: number };
  /** Custom controllers by the name that plans use; faults target these. Default: the controllers of Kubernetes. */
  readonly controllers?: NonNullable<RunPlanOptions["controllers"]>;
  /** Generates the workload. Default: Jobs and CronJobs. */
  readonly workload?: (random: Parameters<NonNullable<GenerateOptions["workload"]>>[0]) => CustomWorkload;
  /** Invariants beside those that apply to every controller. */
  readonly invariants?: readonly Invariant[];
}

/**
 * Runs generated plans in this thread and reports violated invariants, each with the smallest plan that violates it
 * (`minimize: false` keeps the plan as it is). Custom controllers run beside those of Kubernetes.
 *
 * @throws PlanError for a workload that the API server refuses.
 */
export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const { seeds, controllers, workload, faults, shapes, builtIn, freeze, invariants = [], ...rest } = options;
  const known = controllers === undefined ? builtInInvariants : genericInvariants;
  const runOptions: RunPlanOptions = {
    invariants: [...known, ...invariants],
    ...(controllers === undefined ? {} : { controllers }),
    ...(builtIn === undefined ? {} : { builtIn }),
    ...(freeze === undefined ? {} : { freeze }),
  };
  const generateOptions: GenerateOptions = {
    ...(faults === undefined ? {} : { faults }),
    ...(shapes === undefined ? {} : { shapes }),
    ...(workload === undefined ? {} : { workload }),
    ...(controllers === undefined ? {} : { controllers: Object.keys(controllers) }),
  };
  const runOne = (plan: FaultPlan): ReturnType<typeof runPlan> => runPlan(plan, runOptions);
  const runWithoutInvariants = (plan: FaultPlan): ReturnType<typeof runPlan> =>
    runPlan(plan, { ...runOptions, invariants: [] });
  return runCampaign({
    minimize: true,
    ...rest,
    seeds: typeof seeds === "number" ? { from: 1, to: seeds } : seeds,
    makePlan: (seed) => generatePlan(seed, generateOptions),
    workers: { count: 1, run: (plan) => runAndCompare(plan, runOne, runWithoutInvariants) },
  });
}
