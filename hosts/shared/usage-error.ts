/** Wrong usage of the command line: printed without a stack, exit code `failed`. */
export class UsageError extends Error {}
