import type { InputIo } from "../src/input/load-manifests.js";

/** A file system with these files, and the folders in their names. */
export function folderIo(files: Readonly<Record<string, string>>, others: Partial<InputIo> = {}): InputIo {
  const missing = (path: string): Error => Object.assign(new Error(`ENOENT: ${path}`), { code: "ENOENT" });
  return {
    readFile: async (path) => files[path] ?? Promise.reject(missing(path)),
    listFolder: async (folder) => {
      const path = `${folder.replace(/\/+$/, "")}/`;
      const below = Object.keys(files).filter((name) => name.startsWith(path));
      if (below.length === 0) return files[folder] === undefined ? Promise.reject(missing(folder)) : undefined;
      const names = new Map(
        below.map((name) => {
          const [first = "", ...rest] = name.slice(path.length).split("/");
          return [first, rest.length > 0] as const;
        }),
      );
      return [...names].map(([name, isFolder]) => ({ name, isFolder }));
    },
    ...others,
  };
}
