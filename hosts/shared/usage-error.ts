/** The person asked for something that cannot be done: printed without a stack, exit code `failed`. */
export class UsageError extends Error {}
