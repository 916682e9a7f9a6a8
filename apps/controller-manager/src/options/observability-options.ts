import { flagGroup } from "../flag.js";
import { type FlagType, bool, duration, list, repeated, text, textNamed } from "../flag-types.js";
import { parseVerbosity } from "../flag-values.js";

export interface DebuggingOptions {
  readonly profiling: boolean;
  readonly contentionProfiling: boolean;
}

export interface MetricsOptions {
  readonly showHiddenMetricsForVersion: string;
  readonly disabledMetrics: readonly string[];
  /** Items `metric,label=v1,v2`. */
  readonly allowMetricLabels: readonly string[];
  readonly allowMetricLabelsManifest: string;
}

export interface LogOptions {
  readonly loggingFormat: string;
  readonly verbosity: number;
  /** Items `pattern=N`. */
  readonly vmodule: readonly string[];
  readonly logFlushFrequencyMs: number;
  readonly logTextSplitStream: boolean;
  readonly logJsonSplitStream: boolean;
  readonly logTextInfoBufferSize: string;
  readonly logJsonInfoBufferSize: string;
}

export const observabilityDefaults: DebuggingOptions & MetricsOptions & LogOptions = {
  profiling: true,
  contentionProfiling: false,
  showHiddenMetricsForVersion: "",
  disabledMetrics: [],
  allowMetricLabels: [],
  allowMetricLabelsManifest: "",
  loggingFormat: "text",
  verbosity: 0,
  vmodule: [],
  logFlushFrequencyMs: 5_000,
  logTextSplitStream: false,
  logJsonSplitStream: false,
  logTextInfoBufferSize: "0",
  logJsonInfoBufferSize: "0",
};

export const debuggingFlags = flagGroup<DebuggingOptions>("Debugging", {
  profiling: ["profiling", bool, "serve /debug/flags/v"],
  contentionProfiling: ["contention-profiling", bool, "accepted for compatibility"],
});

export const metricsFlags = flagGroup<MetricsOptions>("Metrics", {
  showHiddenMetricsForVersion: [
    "show-hidden-metrics-for-version",
    textNamed("version"),
    "previous minor version whose hidden metrics to show",
  ],
  disabledMetrics: ["disabled-metrics", list, "full names of metrics to leave out"],
  allowMetricLabels: [
    "allow-metric-labels",
    repeated,
    "metric,label='v1,v2': other values of that label become 'unexpected'; may be repeated",
  ],
  allowMetricLabelsManifest: ["allow-metric-labels-manifest", textNamed("path"), "the same as a YAML file"],
});

const level: FlagType<number> = {
  placeholder: "level",
  parse: parseVerbosity,
  fromYaml: (flag, value) => (typeof value === "number" ? parseVerbosity(flag, String(value)) : undefined),
  expected: "a whole number from 0 on",
  format: String,
};

export const logFlags = flagGroup<LogOptions>("Logs", {
  loggingFormat: ["logging-format", textNamed("format"), "'text' or 'json'; both go to standard error"],
  verbosity: ["v", level, "how much to log; 4 and up: everything"],
  vmodule: ["vmodule", list, "pattern=N,…: the level of loggers whose name fits, such as job-controller=4"],
  logFlushFrequencyMs: ["log-flush-frequency", duration, "accepted for compatibility: lines are never held back"],
  logTextSplitStream: ["log-text-split-stream", bool, "alpha upstream, not available"],
  logJsonSplitStream: ["log-json-split-stream", bool, "alpha upstream, not available"],
  logTextInfoBufferSize: ["log-text-info-buffer-size", text, "alpha upstream, not available"],
  logJsonInfoBufferSize: ["log-json-info-buffer-size", text, "alpha upstream, not available"],
});

const ALPHA_ONLY = "Forbidden: Feature LoggingAlphaOptions is disabled";

/** @param isEnabled - Whether a feature gate is on. */
export function observabilityErrors(
  options: MetricsOptions & LogOptions,
  isEnabled: (gate: string) => boolean,
): string[] {
  const { loggingFormat, vmodule } = options;
  const errors: string[] = [];
  const invalidFormat = `format: Invalid value: ${JSON.stringify(loggingFormat)}:`;
  const isText = loggingFormat === "text";
  if (vmodule.length > 0 && !isText) errors.push(`${invalidFormat} Non-default format doesn't honor flag: vmodule`);
  if (!isText && loggingFormat !== "json") errors.push(`${invalidFormat} Unsupported log format`);
  if (loggingFormat === "json" && !isEnabled("LoggingBetaOptions"))
    errors.push("format: Forbidden: Log format json is disabled, see LoggingBetaOptions feature");
  if (!(options.logFlushFrequencyMs > 0)) {
    errors.push(`flushFrequency: Invalid value: ${options.logFlushFrequencyMs * 1e6}: Must be greater than zero`);
  }
  if (vmodule.length > 0 && !isText) errors.push("vmodule: Forbidden: Only supported for text log format");
  for (const item of vmodule) {
    if (!/^[^=]+=\d+$/.test(item)) errors.push(`${JSON.stringify(item)} does not have the pattern=N format`);
  }
  if (!isEnabled("LoggingAlphaOptions")) {
    if (options.logTextSplitStream) errors.push(`options.text.splitStream: ${ALPHA_ONLY}`);
    if (options.logTextInfoBufferSize !== "0") errors.push(`options.text.infoBufferSize: ${ALPHA_ONLY}`);
    if (options.logJsonSplitStream) errors.push(`options.json.splitStream: ${ALPHA_ONLY}`);
    if (options.logJsonInfoBufferSize !== "0") errors.push(`options.json.infoBufferSize: ${ALPHA_ONLY}`);
  }
  if (!["", "1.35"].includes(options.showHiddenMetricsForVersion)) {
    errors.push(
      "--show-hidden-metrics-for-version must be omitted or have the value '1.35'. Only the previous minor version is allowed",
    );
  }
  return errors;
}
