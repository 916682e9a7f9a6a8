/** The built script and style of the page, with their hashes in the format of a content security policy. */
export interface PageAssets {
  readonly script: string;
  readonly style: string;
  /** `sha256-…` */
  readonly scriptHash: string;
  readonly styleHash: string;
}
