import { controllerListErrors } from "@kubewright/controller";
import { controllerNames } from "@kubewright/manager/kubernetes";

import { type OptionsOf, option, optionGroup } from "../flag.js";
import { assignments, bool, duration, list, text } from "../flag-types.js";

const implementedNames = controllerNames.join(", ");

/** Which controllers run, and how they start and stop. */
export const genericOptions = optionGroup("Generic", {
  /** Canonical names once the options are completed. */
  controllers: option(
    list,
    ["*"],
    `controllers to run: '*' all that are on by default, 'foo' also foo, '-foo' not foo; the first item that names a controller decides. Here: ${implementedNames}; other names of kube-controller-manager are accepted and skipped`,
  ),
  minResyncPeriodMs: option(
    duration,
    12 * 3_600_000,
    "informers resync after a random time between this and twice this",
  ),
  controllerStartIntervalMs: option(duration, 0, "controllers start after a random time between this and twice this"),
  /** 0: no limit. */
  controllerShutdownTimeoutMs: option(
    duration,
    10_000,
    "how long controllers may take to finish what is in flight; 0: as long as they like",
  ),
  useServiceAccountCredentials: option(
    bool,
    false,
    "every controller acts as its own ServiceAccount in kube-system, created when missing",
  ),
  /** Unparsed items `Name=bool`: see {@link resolveFeatureGates}. */
  featureGates: option(assignments, [], "features to switch on or off, Name=true|false,…; see below"),
  emulatedVersion: option(list, [], "only kube=1.36"),
  minCompatibilityVersion: option(list, [], "only kube=1.36"),
  clusterName: option(text, "kubernetes", "accepted for compatibility: no controller here uses it"),
});

export type GenericOptions = OptionsOf<typeof genericOptions>;

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
