import { qualifiedNameErrors } from "../../names.js";

const HUGE_PAGES = "hugepages-";

export function isHugePages(name: string): boolean {
  return name.startsWith(HUGE_PAGES);
}

/** Kubernetes' own. Upstream: `helper.IsNativeResource`. */
export function isNativeResource(name: string): boolean {
  return !name.includes("/") || name.includes("kubernetes.io/");
}

/** Of a domain, as devices are. Upstream: `helper.IsExtendedResourceName`. */
export function isExtendedResource(name: string): boolean {
  return (
    !isNativeResource(name) && !name.startsWith("requests.") && qualifiedNameErrors(`requests.${name}`).length === 0
  );
}

/** Whether more may be promised than there is. Upstream: `helper.IsOvercommitAllowed`. */
export function allowsOvercommit(name: string): boolean {
  return isNativeResource(name) && !isHugePages(name);
}
