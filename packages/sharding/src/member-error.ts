/** This process is no longer a member and must exit: other members take over its work. */
export class MemberError extends Error {
  override readonly name = "MemberError";
}
