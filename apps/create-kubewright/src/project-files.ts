/** The name that the template's own files have for the project. */
const PLACEHOLDER = "my-operator";

export interface ProjectOptions {
  /** Of the operator, its package, image and namespace. */
  readonly name: string;
  /** Of kubewright's packages, such as `0.3.1`: the project takes this or any newer that is compatible. */
  readonly version: string;
}

/** What is wrong with a project's name, if anything is: it becomes a namespace, so it is a DNS label. */
export function projectNameError(name: string): string | undefined {
  if (/^[a-z]([-a-z0-9]{0,50}[a-z0-9])?$/.test(name)) return undefined;
  return `${JSON.stringify(name)} cannot be an operator's name: lower-case letters, digits and "-", at most 52, beginning with a letter`;
}

/**
 * The files of a new project.
 *
 * @param template - Text of the template's files by path, with `/`.
 * @returns The same for the project. npm leaves a `.gitignore` out of packages, so the template's is called `_gitignore`.
 * @throws Error for a name that {@link projectNameError} objects to.
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
