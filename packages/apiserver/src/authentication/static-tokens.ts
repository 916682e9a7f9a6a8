import type { RequestUser } from "../authorization/authorizer.js";
import { base64 } from "../base64.js";
import { sha256 } from "../sha256.js";

/** User of a token. `groups` is optional. */
export type TokenUser = Omit<RequestUser, "groups"> & { readonly groups?: readonly string[] };

/** Tokens known at start. Lookup uses their hash, so that response times reveal nothing about them. */
export class StaticTokens {
  readonly #users = new Map<string, RequestUser>();

  add(token: string, user: TokenUser): void {
    this.#users.set(hashOf(token), { ...user, groups: user.groups ?? [] });
  }

  /**
   * Adds the tokens of a file with lines of `token,user,uid,"group1,group2"`, groups optional: the format of
   * kube-apiserver's `--token-auth-file`. Skips empty lines and lines that begin with `#`.
   *
   * @throws Error with the number of the first invalid line.
   */
  addCsv(text: string): void {
    for (const [index, line] of text.split(/\r?\n/).entries()) {
      if (line.trim() === "" || line.startsWith("#")) continue;
      const [token = "", username = "", uid = "", groups = "", ...rest] = csvFields(line);
      if (token === "" || username === "" || csvFields(line).length < 3 || rest.length > 0) {
        throw new Error(
          `line ${index + 1} of the token file is not \`token,user,uid\` or \`token,user,uid,"group1,group2"\``,
        );
      }
      this.add(token, {
        username,
        ...(uid === "" ? {} : { uid }),
        groups: groups
          .split(",")
          .map((group) => group.trim())
          .filter((group) => group !== ""),
      });
    }
  }

  userOf(token: string): RequestUser | undefined {
    return this.#users.get(hashOf(token));
  }
}

function hashOf(token: string): string {
  return base64(sha256(new TextEncoder().encode(token)));
}

/** Splits one line. Quotes protect commas; a doubled quote is one quote. */
function csvFields(line: string): string[] {
  const fields: string[] = [];
  for (const [, quoted, plain = ""] of line.matchAll(/(?:^|,)(?:\s*"((?:[^"]|"")*)"\s*|([^,]*))/g))
    fields.push(quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"'));
  return fields;
}
