/** How old a record may be, in days: docs/project/releasing.md. */
const MAX_DAYS = 30;
const DAY_MS = 86_400_000;

/** Dates of a record and of the code it is about. */
export interface Age {
  readonly path: string;
  /** The command that makes it anew. */
  readonly renew: string;
  /** Date in the record. */
  readonly recorded: string | undefined;
  /** Time of the newest change of the code. */
  readonly changed: string;
}

/** What is wrong with the dates of records, one sentence each. */
export function outdated(ages: readonly Age[]): readonly string[] {
  return ages.flatMap(({ path, renew, recorded = '', changed }) => {
    if (!/^\d{4}-\d\d-\d\d/.test(recorded)) return [`${path} has no date: ${renew}`];
    const days = Math.floor((Date.parse(changed) - Date.parse(recorded)) / DAY_MS);
    return days > MAX_DAYS ? [`${path} is ${days} days older than the code it is about: ${renew}`] : [];
  });
}
