import { h } from "@kubewright/timeline/page";

/** Has the browser save a file. */
export function download(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  h("a", { href: url, download: name }).click();
  // By when the browser has begun to read it.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
