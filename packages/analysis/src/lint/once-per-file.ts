import type { Finding } from "./lint-manifests.js";

/**
 * Keeps the first finding of each file for rules that report once per file. Its text counts the others. Findings
 * without a place have no file, and are all kept.
 */
export function oncePerFile(findings: readonly Finding[]): readonly Finding[] {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const { rule, place } = finding;
    if (rule.oncePerFile !== true || place === undefined) continue;
    const key = `${rule.name} ${place.file}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [finding]);
    else group.push(finding);
  }
  const reported = new Map(
    [...groups.values()].map(([first, ...others]) => [
      first!,
      { ...first!, text: `${first!.text}${othersText(others)}` },
    ]),
  );
  return findings.flatMap((finding) => {
    if (finding.rule.oncePerFile !== true || finding.place === undefined) return [finding];
    return reported.get(finding) ?? [];
  });
}

function othersText(others: readonly Finding[]): string {
  if (others.length === 0) return "";
  return `; the same for ${others.length} more in this file, the next is ${others[0]!.object}`;
}
