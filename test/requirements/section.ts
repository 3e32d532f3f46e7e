/** Lines of one source; the keys of `says` are the ids, `deferred` tells with what the whole section comes. */
export interface Section {
  readonly source: string;
  readonly deferred?: string;
  readonly says: Readonly<Record<string, string>>;
}
