/** Plain scalars that every YAML reader parses as strings. */
const PLAIN = /^(?!(?:true|false|null|yes|no|on|off|y|n|~)$)[A-Za-z/_][\w./@ ()-]*(?::[\w./@-][\w./@ ()-]*)*$/i;

/**
 * Formats JSON data as readable YAML, with members sorted by name like kubectl. Ambiguous strings are quoted as in
 * JSON, which is valid YAML.
 */
export function yamlText(value: unknown, indent = ""): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return " []\n";
    return `\n${value.map((item) => `${indent}- ${nested(item, `${indent}  `)}`).join("")}`;
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    if (entries.length === 0) return " {}\n";
    return `\n${entries.map(([key, member]) => `${indent}${scalar(key)}:${member === null || typeof member !== "object" ? ` ${scalar(member)}\n` : yamlText(member, Array.isArray(member) ? indent : `${indent}  `)}`).join("")}`;
  }
  return ` ${scalar(value)}\n`;
}

/** Formats a list item: its first line follows the dash. */
function nested(item: unknown, indent: string): string {
  return yamlText(item, indent).replace(/^\n\s*|^ /, "");
}

function scalar(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value);
  return PLAIN.test(value) && !value.endsWith(" ") ? value : JSON.stringify(value);
}
