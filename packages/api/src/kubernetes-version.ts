/**
 * Releases whose Job behaviour differs, oldest first. Each entry was tested against one patch release. If two patch
 * releases of a minor version differ, both are listed.
 */
export const KUBERNETES_VERSIONS = ["1.31", "1.33", "1.34", "1.35", "1.36.2", "1.36.3"] as const;

export type KubernetesVersion = (typeof KUBERNETES_VERSIONS)[number];

/** The default version to simulate. */
export const NEWEST_VERSION: KubernetesVersion = "1.36.3";

/** Differences between releases: feature gates by their names, and bugs by the correct behaviour. */
export interface VersionBehaviours {
  /**
   * `spec.managedBy` is stored, and status writes of Jobs are fully validated. If false, the field is dropped silently.
   */
  readonly jobManagedBy: boolean;
  /**
   * Watches can begin with the existing objects. If false, such a request fails with 422, and clients list and then
   * watch.
   */
  readonly watchList: boolean;
  /**
   * Suspending a Job clears its `status.startTime`, and the scheduling directives of its pods can be changed while it
   * is suspended. If false, the deadline keeps running, and only a Job that never started can be changed.
   */
  readonly mutableSchedulingDirectivesForSuspendedJobs: boolean;
  /** The resource requests and limits of containers of a suspended Job can be changed. */
  readonly mutablePodResourcesForSuspendedJobs: boolean;
  /**
   * While the replacement of a failed pod waits, the Job status counts the pods that run meanwhile. If false, the
   * status reports 0 active pods. The validation rules of {@link jobManagedBy} reject that status as soon as one pod is
   * ready (kubernetes#139428).
   */
  readonly activePodsDuringBackoff: boolean;
}

/** The first release in {@link KUBERNETES_VERSIONS} with each behaviour. All later releases have it. */
const introducedIn: Readonly<Record<keyof VersionBehaviours, KubernetesVersion>> = {
  jobManagedBy: "1.33",
  watchList: "1.34",
  mutableSchedulingDirectivesForSuspendedJobs: "1.36.2",
  mutablePodResourcesForSuspendedJobs: "1.36.2",
  activePodsDuringBackoff: "1.36.3",
};

export function behavioursOf(version: KubernetesVersion): VersionBehaviours {
  const has = (behaviour: keyof VersionBehaviours): boolean =>
    KUBERNETES_VERSIONS.indexOf(version) >= KUBERNETES_VERSIONS.indexOf(introducedIn[behaviour]);
  return {
    jobManagedBy: has("jobManagedBy"),
    watchList: has("watchList"),
    mutableSchedulingDirectivesForSuspendedJobs: has("mutableSchedulingDirectivesForSuspendedJobs"),
    mutablePodResourcesForSuspendedJobs: has("mutablePodResourcesForSuspendedJobs"),
    activePodsDuringBackoff: has("activePodsDuringBackoff"),
  };
}

/** The behaviours of the newest release. */
export const newestBehaviours: VersionBehaviours = behavioursOf(NEWEST_VERSION);

/** Returns the tested release as a server's `gitVersion`: `v1.35.6`. */
export function gitVersionOf(version: KubernetesVersion): string {
  return `v${measuredGitVersions[version]}`;
}

const measuredGitVersions: Readonly<Record<KubernetesVersion, string>> = {
  "1.31": "1.31.14",
  "1.33": "1.33.13",
  "1.34": "1.34.9",
  "1.35": "1.35.6",
  "1.36.2": "1.36.2",
  "1.36.3": "1.36.3",
};

/** A release as numbers. */
export interface ServerVersion {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

/** Parses a server's `gitVersion`, such as `v1.33.4-gke.1036000`. Returns `undefined` if the text is not a version. */
export function parseServerVersion(gitVersion: string): ServerVersion | undefined {
  const numbers = /^v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,6}))?(?![\d.])/.exec(gitVersion);
  if (numbers === null) return undefined;
  const [, major, minor, patch = "0"] = numbers;
  return { major: Number(major), minor: Number(minor), patch: Number(patch) };
}

/** The release in {@link KUBERNETES_VERSIONS} that behaves like a server, and whether that was tested. */
export interface ClosestVersion {
  readonly version: KubernetesVersion;
  /** `older` and `newer`: than all tested releases. `between`: a minor version that was not tested. */
  readonly fit: "measured" | "between" | "older" | "newer";
}

export function closestVersion({ major, minor, patch }: ServerVersion): ClosestVersion {
  if (major > 1 || (major === 1 && minor > 36)) return { version: NEWEST_VERSION, fit: "newer" };
  if (major < 1 || minor < 31) return { version: "1.31", fit: "older" };
  if (minor === 36) return { version: patch < 3 ? "1.36.2" : "1.36.3", fit: "measured" };
  // Minor version 32 is between two tested releases, and has the feature gates of the later one.
  if (minor === 32) return { version: "1.33", fit: "between" };
  return { version: `1.${minor}` as KubernetesVersion, fit: "measured" };
}
