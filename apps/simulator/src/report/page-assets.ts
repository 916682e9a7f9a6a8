/** The page's script and style as they were built, and their hashes as a content security policy names them. */
export interface PageAssets {
  readonly script: string;
  readonly style: string;
  /** `sha256-…` */
  readonly scriptHash: string;
  readonly styleHash: string;
}
