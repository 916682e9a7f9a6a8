/** Colours for a terminal, or none. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

export function styleFor(hasColours: boolean): Style {
  const wrap = (open: number, close: number) => (text: string) => (hasColours && text !== "" ? `\u001B[${open}m${text}\u001B[${close}m` : text);
  return { bold: wrap(1, 22), dim: wrap(2, 22), red: wrap(31, 39), green: wrap(32, 39), yellow: wrap(33, 39), cyan: wrap(36, 39) };
}

/** Control characters of untrusted text, made visible: an object's name or message must not drive the terminal. */
export function printable(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u001F\u007F-\u009F]/g, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`);
}
