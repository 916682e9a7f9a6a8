export { notSimulatedReporter } from "../run/not-simulated-reporter.js";
export { Recorder } from "../run/recorder.js";
export { traceLine } from "../run/trace.js";

export type { TraceRecord } from "../run/trace.js";
