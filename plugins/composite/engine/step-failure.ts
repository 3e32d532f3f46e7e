import { MAX_ERROR_LENGTH } from './limits.ts';

/** A failure whose message the caller may see. */
export class StepFailure extends Error {
  /** A retry would fail in the same way. */
  readonly isFinal: boolean;

  constructor(message: string, isFinal = true) {
    super(message.length > MAX_ERROR_LENGTH ? `${message.slice(0, MAX_ERROR_LENGTH)} …` : message);
    this.name = 'StepFailure';
    this.isFinal = isFinal;
  }
}

/** A step waits for an answer in a later request. */
export class Suspended extends Error {
  constructor() {
    super('the step waits for an answer');
    this.name = 'Suspended';
  }
}
