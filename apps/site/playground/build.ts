/** Builds the playground into a folder, from which any web server can hand it out. */
export async function buildPlayground(outDir: string): Promise<void> {
  throw new Error(`${outDir}: there is no playground yet`);
}
