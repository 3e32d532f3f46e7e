/** Wrong usage of the command line: printed without a stack, exit code `failed`. */
export class UsageError extends Error {}

/** The user ended a question with Ctrl-C: exit code `interrupted`. */
export class Interrupted extends UsageError {}
