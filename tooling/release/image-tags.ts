/** The images that a release publishes. */
export const IMAGES = ["kubewright-controller-manager", "kubewright"];

const PINNED = /@sha256:[\da-f]{64}$/;

/**
 * Finds images that a file of a release names without a digest: in Dockerfiles, manifests, the values of the chart, the
 * krew manifest and documents. Commands that build an image may tag it.
 *
 * @returns One line for each, with file and line.
 */
export function imageTags(file: string, text: string): string[] {
  const stages = new Set<string>();
  return text.split("\n").flatMap((line, index) => {
    const found = unpinned(file, line, stages);
    return found === undefined ? [] : [`${file}:${index + 1}: ${found} has no digest`];
  });
}

function unpinned(file: string, line: string, stages: Set<string>): string | undefined {
  if (file.endsWith("Dockerfile")) {
    const [, image, stage] =
      /^FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?/i.exec(line) ?? /^# syntax=(\S+)/.exec(line) ?? [];
    const from = image ?? /^COPY\s+--from=(\S+)/.exec(line)?.[1];
    const isStage = from !== undefined && stages.has(from);
    if (stage !== undefined) stages.add(stage);
    return from === undefined || isStage || PINNED.test(from) ? undefined : from;
  }
  if (/\.ya?ml$/.test(file)) {
    const [, key, value = ""] = /^\s*(?:- )?(image|tag|newTag|digest): *["']?([^"'#]*?)["']?\s*$/.exec(line) ?? [];
    // Templates of the chart take the image from its values.
    if (key === "image" && value !== "" && !value.startsWith("{{") && !PINNED.test(value)) return value;
    if ((key === "tag" || key === "newTag") && value !== "") return `${key} ${value}`;
    if (key === "digest" && !/^sha256:[\da-f]{64}$/.test(value)) return "digest";
    return undefined;
  }
  if (!file.endsWith(".md") || line.includes("docker build")) return undefined;
  return new RegExp(`(?<![\\w-])(?:[\\w.:-]+/)*(?:${IMAGES.join("|")}):(?:v?\\d[\\w.-]*|latest)`).exec(line)?.[0];
}
