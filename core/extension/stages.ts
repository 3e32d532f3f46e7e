/** Order of taps within a hook. Taps of one stage run in plan order. */
export const STAGE = { first: -100, early: -10, normal: 0, late: 10, last: 100 } as const;

/** A name of {@link STAGE}. */
export type StageName = keyof typeof STAGE;
