import type { DeepReadonly, KubernetesObject, List } from "@kubewright/api";
import { isResourceExpired } from "@kubewright/client";

/** The query of one list request. */
export interface PageQuery {
  readonly resourceVersion?: string | undefined;
  readonly limit?: number | undefined;
  readonly continue?: string;
}

/** A list, joined from its pages. */
export interface PagedList<T extends KubernetesObject> {
  readonly objects: DeepReadonly<T>[];
  /** The resourceVersion of the first page. */
  readonly resourceVersion: string;
  readonly pages: number;
}

/** Enough for 5 million objects at 500 per page. */
const MAX_PAGES = 10_000;

/**
 * Lists page by page. If the continue token expires on the way, requests the whole list in one response instead.
 *
 * @throws Error when the pages have no end: a continue token is repeated, or there are more than 10,000 pages. Upstream
 * continues for ever.
 * @see kubernetes v1.36 client-go tools/pager/pager.go
 */
export async function listPages<T extends KubernetesObject>(
  listPage: (query: PageQuery) => Promise<List<DeepReadonly<T>>>,
  { resourceVersion = "", limit }: { readonly resourceVersion?: string; readonly limit: number | undefined },
): Promise<PagedList<T>> {
  const objects: DeepReadonly<T>[] = [];
  const collect = ({ items }: List<DeepReadonly<T>>): void => {
    // A server can send null for an empty list.
    for (const object of (items as DeepReadonly<T>[] | null) ?? []) objects.push(object);
  };
  const version = resourceVersion === "" ? undefined : resourceVersion;
  const first = await listPage({ resourceVersion: version, limit });
  collect(first);
  let pages = 1;
  const seen = new Set<string>();
  for (let token = first.metadata.continue; token; pages++) {
    if (seen.has(token)) throw new Error("the list has no end: a continue token came again");
    if (pages >= MAX_PAGES) throw new Error(`the list has more than ${MAX_PAGES} pages`);
    seen.add(token);
    let page: List<DeepReadonly<T>>;
    try {
      page = await listPage({ limit, continue: token });
    } catch (error) {
      if (!isResourceExpired(error)) throw error;
      const full = await listPage({ resourceVersion: version });
      objects.length = 0;
      collect(full);
      return { objects, resourceVersion: full.metadata.resourceVersion, pages: pages + 1 };
    }
    collect(page);
    token = page.metadata.continue;
  }
  return { objects, resourceVersion: first.metadata.resourceVersion, pages };
}
