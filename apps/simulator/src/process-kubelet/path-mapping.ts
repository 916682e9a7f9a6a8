/** What a container's paths are on this machine: from a path in the container to one here. */
export type PathMapping = readonly (readonly [inContainer: string, onHost: string])[];

/**
 * Puts this machine's paths in the place of a container's, wherever one begins in the text: at its start, or behind a blank,
 * a quote, `=`, `:`, `,`, `<` or `>`. No process sees another file system than ours, so what a manifest says of its mounts can only
 * hold if it is said in other words.
 */
export function mapPaths(text: string, mapping: PathMapping): string {
  if (mapping.length === 0) return text;
  const longestFirst = mapping.toSorted(([a], [b]) => b.length - a.length);
  const paths = new Map(longestFirst);
  const any = longestFirst.map(([path]) => path.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)).join("|");
  return text.replaceAll(
    new RegExp(`(?<=^|[\\s"'=:,<>])(?:${any})(?=$|[/\\s"':;,&|)])`, "g"),
    (path) => paths.get(path) ?? path,
  );
}
