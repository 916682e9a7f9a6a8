/** Returns the text of a file system error as Go writes it; for any other error, its own message. */
export function fileError(error: Error): string {
  const { code = "" } = error as NodeJS.ErrnoException;
  return TEXT_BY_CODE[code] ?? error.message;
}

const TEXT_BY_CODE: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EISDIR: "is a directory",
  ENOENT: "no such file or directory",
  ENOTDIR: "not a directory",
};
