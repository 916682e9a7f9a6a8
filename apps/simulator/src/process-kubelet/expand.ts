/**
 * Puts variables in: `$(NAME)` becomes its value, `$$` a dollar sign, and what names nothing stays as it is.
 *
 * @see kubernetes v1.36 third_party/forked/golang/expansion/expand.go
 */
export function expand(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$(?:\$|\(([^)]*)\))/g, (whole, name: string | undefined) => {
    if (name === undefined) return "$";
    return Object.hasOwn(variables, name) ? variables[name]! : whole;
  });
}
