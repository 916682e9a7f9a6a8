/** Removes empty and `.` segments, and resolves `..` where a folder stands before it. */
export function normalPath(path: string): string {
  const isAbsolute = path.startsWith("/");
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else if (part !== ".." || !isAbsolute) parts.push(part);
  }
  const joined = parts.join("/");
  return isAbsolute ? `/${joined}` : joined || ".";
}

/** Returns the path that `path` names inside `folder`; an absolute path stays as it is. */
export function joinPath(folder: string, path: string): string {
  return normalPath(path.startsWith("/") ? path : `${folder}/${path}`);
}

/** Returns the folder of a path; `.` or `..` above the first segment. */
export function parentOf(path: string): string {
  return normalPath(`${path}/..`);
}

/** Whether a path is the folder or is in it. Both are normal paths. */
export function isWithin(path: string, folder: string): boolean {
  if (folder === ".") return !path.startsWith("/") && path !== ".." && !path.startsWith("../");
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}

/** Quotes a word of a shell command where necessary. */
export function shellWord(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
