/** Order inside a hook: five names, no raw numbers. Within one stage, plan order. */
export const STAGE = { first: -100, early: -10, normal: 0, late: 10, last: 100 } as const;

/** A name of {@link STAGE}. */
export type StageName = keyof typeof STAGE;
