/** Pairs of a path in the container and the corresponding path on the host. */
export type PathMapping = readonly (readonly [inContainer: string, onHost: string])[];

/**
 * Replaces container paths in a text with host paths. A path starts at the start of the text, or after a blank, a
 * quote, `=`, `:`, `,`, `<` or `>`.
 *
 * All processes see the host's file system, so the mount paths of a manifest are valid only after this replacement.
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
