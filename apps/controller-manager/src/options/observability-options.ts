import { type OptionsOf, option, optionGroup } from "../flag.js";
import { type FlagType, bool, duration, list, repeated, text, textNamed } from "../flag-types.js";
import { parseVerbosity } from "../flag-values.js";

export const debuggingOptions = optionGroup("Debugging", {
  profiling: option(bool, true, "serve /debug/flags/v"),
  contentionProfiling: option(bool, false, "accepted for compatibility"),
});

export const metricsOptions = optionGroup("Metrics", {
  showHiddenMetricsForVersion: option(textNamed("version"), "", "previous minor version whose hidden metrics to show"),
  disabledMetrics: option(list, [], "full names of metrics to leave out"),
  /** Items `metric,label=v1,v2`. */
  allowMetricLabels: option(
    repeated,
    [],
    "metric,label='v1,v2': other values of that label become 'unexpected'; may be repeated",
  ),
  allowMetricLabelsManifest: option(textNamed("path"), "", "the same as a YAML file"),
});

type MetricsOptions = OptionsOf<typeof metricsOptions>;

const level: FlagType<number> = {
  placeholder: "level",
  parse: parseVerbosity,
  fromYaml: (flag, value) => (typeof value === "number" ? parseVerbosity(flag, String(value)) : undefined),
  expected: "a whole number from 0 on",
  format: String,
};

export const logOptions = optionGroup("Logs", {
  loggingFormat: option(textNamed("format"), "text", "'text' or 'json'; both go to standard error"),
  verbosity: option(level, 0, "how much to log; 4 and up: everything", "v"),
  /** Items `pattern=N`. */
  vmodule: option(list, [], "pattern=N,…: the level of loggers whose name fits, such as job-controller=4"),
  logFlushFrequencyMs: option(duration, 5_000, "accepted for compatibility: lines are never held back"),
  logTextSplitStream: option(bool, false, "alpha upstream, not available"),
  logJsonSplitStream: option(bool, false, "alpha upstream, not available"),
  logTextInfoBufferSize: option(text, "0", "alpha upstream, not available"),
  logJsonInfoBufferSize: option(text, "0", "alpha upstream, not available"),
});

type LogOptions = OptionsOf<typeof logOptions>;

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
