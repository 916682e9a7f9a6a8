/** A place that paths lead to. Most have one way on. */
interface PathNode {
  /** Index of the first path that ends here, and of the first that goes on from here. */
  firstEnd?: number;
  firstThrough?: number;
  firstName?: string;
  firstChild?: PathNode;
  otherChildren?: Map<string, PathNode>;
}

/** Paths that are, or are below, one that came before, or the other way round, each with the first such: `"a/b" with "a"`. */
export function overlappingPaths(paths: readonly string[]): string[] {
  return pathOverlaps(paths).map(({ index, first }) => `"${paths[index]}" with "${paths[first]}"`);
}

/** By their indices. Takes time in proportion to the paths, not to their pairs. */
export function pathOverlaps(paths: readonly string[]): { readonly index: number; readonly first: number }[] {
  const root: PathNode = {};
  return paths.flatMap((path, index) => {
    const first = insert(root, path, index);
    return first === undefined ? [] : [{ index, first }];
  });
}

/** Answers the index of the first path before this one that it overlaps. */
function insert(root: PathNode, path: string, index: number): number | undefined {
  let first: number | undefined;
  const consider = (other: number | undefined): void => {
    if (other !== undefined && other < index && (first === undefined || other < first)) first = other;
  };
  let node = root;
  for (let start = 0; start <= path.length;) {
    const slash = path.indexOf("/", start);
    const end = slash < 0 ? path.length : slash;
    node = childOf(node, path.slice(start, end));
    consider(node.firstEnd);
    if (slash >= 0) node.firstThrough ??= index;
    start = end + 1;
  }
  consider(node.firstThrough);
  node.firstEnd ??= index;
  return first;
}

function childOf(node: PathNode, name: string): PathNode {
  if (node.firstName === name) return node.firstChild!;
  if (node.firstChild === undefined) {
    node.firstName = name;
    return (node.firstChild = {});
  }
  node.otherChildren ??= new Map();
  let other = node.otherChildren.get(name);
  if (other === undefined) node.otherChildren.set(name, (other = {}));
  return other;
}
