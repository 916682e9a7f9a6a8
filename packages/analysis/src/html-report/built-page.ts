import { UserError } from "../errors/user-error.js";
import type { Files } from "../ports/files.js";
import type { PageAssets } from "./page-assets.js";

/** Returns the built page. @throws UserError when this build has none. */
export async function pageAssets(io: Pick<Files, "pageAssets">): Promise<PageAssets> {
  if (io.pageAssets === undefined) throw new UserError("this build of kubewright has no page");
  return io.pageAssets();
}
