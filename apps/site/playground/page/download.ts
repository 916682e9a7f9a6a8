import { h } from "@kubewright/timeline/page";

/** Downloads a text as a file. */
export function download(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  h("a", { href: url, download: name }).click();
  // Leaves the browser time to read the URL.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
