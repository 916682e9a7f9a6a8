/** The project name in the template's files. */
const PLACEHOLDER = "my-operator";

export interface ProjectOptions {
  /** Name of the operator, its package, image and namespace. */
  readonly name: string;
  /** Version of kubewright's packages, such as `0.3.1`. The project accepts this version and newer compatible ones. */
  readonly version: string;
}

/**
 * Returns the error of an invalid project name, or `undefined`. The name becomes a namespace, so it must be a DNS
 * label.
 */
export function projectNameError(name: string): string | undefined {
  if (/^[a-z]([-a-z0-9]{0,50}[a-z0-9])?$/.test(name)) return undefined;
  return `${JSON.stringify(name)} cannot be an operator's name: lower-case letters, digits and "-", at most 52, beginning with a letter`;
}

/**
 * Returns the files of a new project.
 *
 * @param template - Content of the template's files by path, with `/` separators.
 * @returns Content of the project's files by path. npm excludes `.gitignore` from packages, so the template's file is
 * called `_gitignore`.
 * @throws Error for a name that {@link projectNameError} rejects.
 */
export function projectFiles(
  template: ReadonlyMap<string, string>,
  { name, version }: ProjectOptions,
): ReadonlyMap<string, string> {
  const error = projectNameError(name);
  if (error !== undefined) throw new Error(error);
  return new Map(
    Array.from(template, ([path, text]) => {
      const named = text.replaceAll(PLACEHOLDER, name);
      const content =
        path === "package.json"
          ? named.replaceAll(/("@?kubewright(?:\/[\w-]+)?": )"[^"]*"/g, `$1"^${version}"`)
          : named;
      return [path.replaceAll(PLACEHOLDER, name).replace(/(^|\/)_gitignore$/, "$1.gitignore"), content];
    }),
  );
}
