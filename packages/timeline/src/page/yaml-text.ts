/** Plain scalars that no YAML reader takes for anything but a string. */
const PLAIN = /^(?!(?:true|false|null|yes|no|on|off|y|n|~)$)[A-Za-z/_][\w./@ ()-]*(?::[\w./@-][\w./@ ()-]*)*$/i;

/**
 * JSON data as YAML, for reading, with members in kubectl's order, which is that of their names. Strings that are not
 * plainly strings are quoted as in JSON, which is YAML too.
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

/** An item of a list: its first line stands beside the dash. */
function nested(item: unknown, indent: string): string {
  return yamlText(item, indent).replace(/^\n\s*|^ /, "");
}

function scalar(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value);
  return PLAIN.test(value) && !value.endsWith(" ") ? value : JSON.stringify(value);
}
