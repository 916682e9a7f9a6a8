/** A node of the tree of path segments. Most nodes have one child, which is stored without a map. */
interface PathNode {
  /** The index of the first path that ends at this node, and of the first path that continues below it. */
  firstEnd?: number;
  firstThrough?: number;
  firstName?: string;
  firstChild?: PathNode;
  otherChildren?: Map<string, PathNode>;
}

/** Returns each path that equals, contains or is below an earlier path, with the first such path: `"a/b" with "a"`. */
export function overlappingPaths(paths: readonly string[]): string[] {
  return pathOverlaps(paths).map(({ index, first }) => `"${paths[index]}" with "${paths[first]}"`);
}

/** Returns the overlaps by index. Takes time linear in the total length of the paths. */
export function pathOverlaps(paths: readonly string[]): { readonly index: number; readonly first: number }[] {
  const root: PathNode = {};
  return paths.flatMap((path, index) => {
    const first = insert(root, path, index);
    return first === undefined ? [] : [{ index, first }];
  });
}

/** Inserts a path. Returns the index of the first earlier path that overlaps it. */
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
