/**
 * Releases that can be told apart by what they do with Jobs, oldest first. Each was measured at one patch release; where
 * two of a minor version differ, both are here.
 */
export const KUBERNETES_VERSIONS = ["1.31", "1.33", "1.34", "1.35", "1.36.2", "1.36.3"] as const;

export type KubernetesVersion = (typeof KUBERNETES_VERSIONS)[number];

/** What is played when nobody says otherwise. */
export const NEWEST_VERSION: KubernetesVersion = "1.36.3";

/** What differs between releases: feature gates by their names, and bugs by what is right. */
export interface VersionBehaviours {
  /** `spec.managedBy` is kept, and status writes of Jobs are held to all rules. Off, the field is dropped without a word. */
  readonly jobManagedBy: boolean;
  /** Watches may begin with what there is. Off, such a request is refused with 422, and clients list and then watch. */
  readonly watchList: boolean;
  /**
   * A Job's suspension clears its `status.startTime`, and where its pods may run can be changed while it is suspended. Off, its
   * deadline goes on, and only a Job that never started can be changed.
   */
  readonly mutableSchedulingDirectivesForSuspendedJobs: boolean;
  /** The resources that containers of a suspended Job ask for can be changed. */
  readonly mutablePodResourcesForSuspendedJobs: boolean;
  /**
   * While the replacement of a failed pod waits, a Job's status counts the pods that run beside it. Off, it says that none does,
   * which the rules that come with {@link jobManagedBy} refuse as soon as one is ready (kubernetes#139428).
   */
  readonly activePodsDuringBackoff: boolean;
}

/** The first release of {@link KUBERNETES_VERSIONS} with each behaviour; all later ones have it. */
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

/** How the newest release behaves. */
export const newestBehaviours: VersionBehaviours = behavioursOf(NEWEST_VERSION);

/** The release that was measured, as servers of it call themselves: `v1.35.6`. */
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

/** A release as text and as numbers. */
export interface ServerVersion {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

/** Reads what a server says of itself, such as `v1.33.4-gke.1036000`; `undefined`: it is no version. */
export function parseServerVersion(gitVersion: string): ServerVersion | undefined {
  const numbers = /^v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,6}))?(?![\d.])/.exec(gitVersion);
  if (numbers === null) return undefined;
  const [, major, minor, patch = "0"] = numbers;
  return { major: Number(major), minor: Number(minor), patch: Number(patch) };
}

/** The release of {@link KUBERNETES_VERSIONS} that does what a server does, and whether that is certain. */
export interface ClosestVersion {
  readonly version: KubernetesVersion;
  /** `older` and `newer`: than all that were measured. `between`: of a minor version that was not. */
  readonly fit: "measured" | "between" | "older" | "newer";
}

export function closestVersion({ major, minor, patch }: ServerVersion): ClosestVersion {
  if (major > 1 || (major === 1 && minor > 36)) return { version: NEWEST_VERSION, fit: "newer" };
  if (major < 1 || minor < 31) return { version: "1.31", fit: "older" };
  if (minor === 36) return { version: patch < 3 ? "1.36.2" : "1.36.3", fit: "measured" };
  // It lies between two, and has the feature gates of the later one.
  if (minor === 32) return { version: "1.33", fit: "between" };
  return { version: `1.${minor}` as KubernetesVersion, fit: "measured" };
}
