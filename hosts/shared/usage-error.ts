/** Wrong usage of the command line: printed without a stack, exit code `failed`. */
export class UsageError extends Error {}

/** The user ended a question with Ctrl-C: exit code `interrupted`. */
export class Interrupted extends UsageError {}

/** There is no tool with the given name: exit code `unknown`. */
export class NoSuchTool extends UsageError {}

/** A tool is not there while backends that may have it are not ready: exit code `notYet`. */
export class NoToolYet extends UsageError {}
