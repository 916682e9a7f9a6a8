import { type ReconcileResult, TerminalError } from "@kubewright/controller";
import type { MetricFamilies } from "@kubewright/controller/metrics";

/** Measures the reconciles of one controller. */
export interface ReconcileMetrics {
  /** Called when a worker starts to reconcile a key. */
  began(): void;
  ended(outcome: ReconcileOutcome, seconds: number): void;
}

export type ReconcileOutcome =
  | { readonly result: ReconcileResult | void; readonly isLate?: boolean }
  | { readonly error: unknown; readonly isLate?: boolean };

const SECONDS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];
const RESULTS = ["error", "requeue_after", "requeue", "success"] as const;

/**
 * Registers the `controller_runtime_*` metrics of reconciles, and returns a function that creates those of a
 * controller. All series start at zero.
 *
 * @see controller-runtime pkg/internal/controller/metrics
 */
export function reconcileMetrics(families: MetricFamilies): (controller: string, workers: number) => ReconcileMetrics {
  const labels = ["controller"] as const;
  const total = families.counter({
    name: "controller_runtime_reconcile_total",
    help: "Total number of reconciliations per controller",
    labels: ["controller", "result"],
  });
  const errors = families.counter({
    name: "controller_runtime_reconcile_errors_total",
    help: "Total number of reconciliation errors per controller",
    labels,
  });
  const terminalErrors = families.counter({
    name: "controller_runtime_terminal_reconcile_errors_total",
    help: "Total number of terminal reconciliation errors per controller",
    labels,
  });
  const timeouts = families.counter({
    name: "controller_runtime_reconcile_timeouts_total",
    help: "Total number of reconciliation timeouts per controller",
    labels,
  });
  const time = families.histogram({
    name: "controller_runtime_reconcile_time_seconds",
    help: "Length of time per reconciliation per controller",
    labels,
    buckets: SECONDS,
  });
  const maxConcurrent = families.gauge({
    name: "controller_runtime_max_concurrent_reconciles",
    help: "Maximum number of concurrent reconciles per controller",
    labels,
  });
  const active = families.gauge({
    name: "controller_runtime_active_workers",
    help: "Number of currently used workers per controller",
    labels,
  });
  return (controller, workers) => {
    const of = { controller };
    for (const result of RESULTS) total.inc({ controller, result }, 0);
    for (const counter of [errors, terminalErrors, timeouts]) counter.inc(of, 0);
    active.set(of, 0);
    maxConcurrent.set(of, workers);
    return {
      began: () => active.inc(of),
      ended(outcome, seconds) {
        active.dec(of);
        time.observe(of, seconds);
        total.inc({ controller, result: resultOf(outcome) });
        if (outcome.isLate) timeouts.inc(of);
        if (!("error" in outcome)) return;
        errors.inc(of);
        if (outcome.error instanceof TerminalError) terminalErrors.inc(of);
      },
    };
  };
}

function resultOf(outcome: ReconcileOutcome): (typeof RESULTS)[number] {
  if ("error" in outcome) return "error";
  return outcome.result?.requeueAfterMs === undefined ? "success" : "requeue_after";
}
