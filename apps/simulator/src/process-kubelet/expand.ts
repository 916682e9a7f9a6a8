/**
 * Expands variables: `$(NAME)` becomes its value and `$$` a dollar sign. References to unknown variables stay
 * unchanged.
 *
 * @see kubernetes v1.36 third_party/forked/golang/expansion/expand.go
 */
export function expand(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$(?:\$|\(([^)]*)\))/g, (whole, name: string | undefined) => {
    if (name === undefined) return "$";
    return Object.hasOwn(variables, name) ? variables[name]! : whole;
  });
}
