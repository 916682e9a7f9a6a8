import { controllerListErrors } from "@kubewright/controller";
import { controllerNames } from "@kubewright/manager/kubernetes";

import { flagGroup } from "../flag.js";
import { assignments, bool, duration, list, text } from "../flag-types.js";

/** Which controllers run, and how they start and stop. */
export interface GenericOptions {
  /** Canonical names once the options are completed. */
  readonly controllers: readonly string[];
  readonly minResyncPeriodMs: number;
  readonly controllerStartIntervalMs: number;
  /** 0: no limit. */
  readonly controllerShutdownTimeoutMs: number;
  readonly useServiceAccountCredentials: boolean;
  /** Unparsed items `Name=bool`: see {@link resolveFeatureGates}. */
  readonly featureGates: readonly string[];
  readonly emulatedVersion: readonly string[];
  readonly minCompatibilityVersion: readonly string[];
  readonly clusterName: string;
}

export const genericDefaults: GenericOptions = {
  controllers: ["*"],
  minResyncPeriodMs: 12 * 3_600_000,
  controllerStartIntervalMs: 0,
  controllerShutdownTimeoutMs: 10_000,
  useServiceAccountCredentials: false,
  featureGates: [],
  emulatedVersion: [],
  minCompatibilityVersion: [],
  clusterName: "kubernetes",
};

const implementedNames = controllerNames.join(", ");

export const genericFlags = flagGroup<GenericOptions>("Generic", {
  controllers: [
    "controllers",
    list,
    `controllers to run: '*' all that are on by default, 'foo' also foo, '-foo' not foo; the first item that names a controller decides. Here: ${implementedNames}; other names of kube-controller-manager are accepted and skipped`,
  ],
  minResyncPeriodMs: [
    "min-resync-period",
    duration,
    "informers resync after a random time between this and twice this",
  ],
  controllerStartIntervalMs: [
    "controller-start-interval",
    duration,
    "controllers start after a random time between this and twice this",
  ],
  controllerShutdownTimeoutMs: [
    "controller-shutdown-timeout",
    duration,
    "how long controllers may take to finish what is in flight; 0: as long as they like",
  ],
  useServiceAccountCredentials: [
    "use-service-account-credentials",
    bool,
    "every controller acts as its own ServiceAccount in kube-system, created when missing",
  ],
  featureGates: ["feature-gates", assignments, "features to switch on or off, Name=true|false,…; see below"],
  emulatedVersion: ["emulated-version", list, "only kube=1.36"],
  minCompatibilityVersion: ["min-compatibility-version", list, "only kube=1.36"],
  clusterName: ["cluster-name", text, "accepted for compatibility: no controller here uses it"],
});

export function genericErrors(options: GenericOptions): string[] {
  return [
    ...options.emulatedVersion.flatMap((given) => versionErrors("emulation", given)),
    ...options.minCompatibilityVersion.flatMap((given) => versionErrors("minCompatibility", given)),
    ...controllerListErrors(options.controllers),
  ];
}

/** Upstream can emulate an earlier minor version; this binary implements one version only. */
function versionErrors(what: string, given: string): string[] {
  const [component, version] = given.includes("=") ? given.split("=", 2) : ["kube", given];
  if (component !== "kube") return [`component not registered: ${component}`];
  if (/^v?\d+\.\d+\.\d+$/.test(version!)) return [`patch version not allowed, got: ${given}`];
  if (!/^v?\d+\.\d+$/.test(version!)) return [`illegal version string ${JSON.stringify(version)}`];
  return version!.replace("v", "") === "1.36" ? [] : [`${what} version ${version} is not supported: only 1.36 is`];
}
