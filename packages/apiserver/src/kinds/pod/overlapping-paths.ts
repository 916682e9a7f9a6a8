/** A place that paths lead to. Most have one way on. */
interface Place {
  /** Index of the first path that ends here, and of the first that goes on from here. */
  end?: number;
  through?: number;
  name?: string;
  only?: Place;
  others?: Map<string, Place>;
}

/** Paths that are, or are below, one that came before, or the other way round, each with the first such: `"a/b" with "a"`. */
export function overlappingPaths(paths: readonly string[]): string[] {
  return pathOverlaps(paths).map(({ index, first }) => `"${paths[index]}" with "${paths[first]}"`);
}

/** By their indices. Takes time in proportion to the paths, not to their pairs. */
export function pathOverlaps(paths: readonly string[]): { readonly index: number; readonly first: number }[] {
  const root: Place = {};
  return paths.flatMap((path, index) => {
    const first = enter(root, path, index);
    return first === undefined ? [] : [{ index, first }];
  });
}

/** Answers the index of the first path before this one that it overlaps. */
function enter(root: Place, path: string, index: number): number | undefined {
  let first: number | undefined;
  const note = (other: number | undefined): void => {
    if (other !== undefined && other < index && (first === undefined || other < first)) first = other;
  };
  let place = root;
  for (let start = 0; start <= path.length;) {
    const slash = path.indexOf("/", start);
    const end = slash < 0 ? path.length : slash;
    place = next(place, path.slice(start, end));
    note(place.end);
    if (slash >= 0) place.through ??= index;
    start = end + 1;
  }
  note(place.through);
  place.end ??= index;
  return first;
}

function next(place: Place, name: string): Place {
  if (place.name === name) return place.only!;
  if (place.only === undefined) {
    place.name = name;
    return (place.only = {});
  }
  place.others ??= new Map();
  let other = place.others.get(name);
  if (other === undefined) place.others.set(name, (other = {}));
  return other;
}
