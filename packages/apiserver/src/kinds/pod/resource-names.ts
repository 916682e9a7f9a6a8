import { qualifiedNameErrors } from "@kubewright/api/validation";

const HUGE_PAGES = "hugepages-";

export function isHugePages(name: string): boolean {
  return name.startsWith(HUGE_PAGES);
}

/** Whether the resource is defined by Kubernetes. Upstream: `helper.IsNativeResource`. */
export function isNativeResource(name: string): boolean {
  return !name.includes("/") || name.includes("kubernetes.io/");
}

/** Whether the resource has a vendor domain, as devices do. Upstream: `helper.IsExtendedResourceName`. */
export function isExtendedResource(name: string): boolean {
  return (
    !isNativeResource(name) && !name.startsWith("requests.") && qualifiedNameErrors(`requests.${name}`).length === 0
  );
}

/** Whether the limit may exceed the request. Upstream: `helper.IsOvercommitAllowed`. */
export function allowsOvercommit(name: string): boolean {
  return isNativeResource(name) && !isHugePages(name);
}
