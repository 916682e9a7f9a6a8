import type { MetricFamilies } from "@kubewright/controller/metrics";

export interface BuildMetricsOptions {
  readonly build: BuildInfo;
  /** Every known feature gate. */
  readonly features: readonly FeatureState[];
}

export interface BuildInfo {
  /** Version of this package, such as `0.1.0`. */
  readonly version: string;
  /** The Kubernetes release whose behaviour is implemented, such as `v1.36`. */
  readonly kubernetesVersion: string;
  /** Version of Node, such as `v24.1.0`. */
  readonly nodeVersion: string;
  /** Platform in Go's form: `linux/amd64`. */
  readonly platform: string;
}

export interface FeatureState {
  readonly name: string;
  /** `""`: generally available. */
  readonly stage: "ALPHA" | "BETA" | "DEPRECATED" | "";
  readonly enabled: boolean;
}

/**
 * Registers `kubernetes_build_info`, `version_info` and `kubernetes_feature_enabled`, which are constant while a
 * process runs.
 */
export function buildMetrics(families: MetricFamilies, { build, features }: BuildMetricsOptions): void {
  const [major = "", minor = ""] = build.kubernetesVersion.replace(/^v/, "").split(".");
  const info = families.gauge({
    name: "kubernetes_build_info",
    help: "A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, build date, Go version, and compiler from which Kubernetes was built, and platform on which it is running.",
    stability: "BETA",
    labels: [
      "major",
      "minor",
      "git_version",
      "git_commit",
      "git_tree_state",
      "build_date",
      "go_version",
      "compiler",
      "platform",
    ],
  });
  // A build from source has no known commit and date; Node's version replaces Go's.
  info.set(
    {
      major,
      minor,
      git_version: `${build.kubernetesVersion}+kubewright-${build.version}`,
      git_commit: "",
      git_tree_state: "",
      build_date: "",
      go_version: `node ${build.nodeVersion}`,
      compiler: "v8",
      platform: build.platform,
    },
    1,
  );
  const version = families.gauge({
    name: "version_info",
    help: "Provides the compatibility version info of the component. The component label is the name of the component, usually kube, but is relevant for aggregated-apiservers.",
    labels: ["component", "binary", "emulation", "min_compat"],
  });
  const release = `${major}.${minor}`;
  version.set(
    { component: "kube", binary: release, emulation: release, min_compat: `${major}.${Number(minor) - 1}` },
    1,
  );
  const enabled = families.gauge({
    name: "kubernetes_feature_enabled",
    help: "This metric records the data about the stage and enablement of a k8s feature.",
    stability: "BETA",
    labels: ["name", "stage"],
  });
  for (const feature of features) enabled.set({ name: feature.name, stage: feature.stage }, feature.enabled ? 1 : 0);
}
