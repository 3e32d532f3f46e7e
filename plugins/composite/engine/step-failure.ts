import { MAX_ERROR_LENGTH } from './limits.ts';

/** A step failed for a reason that its caller may read. */
export class StepFailure extends Error {
  /** The same attempt again would end the same way. */
  readonly isFinal: boolean;

  constructor(message: string, isFinal = true) {
    super(message.length > MAX_ERROR_LENGTH ? `${message.slice(0, MAX_ERROR_LENGTH)} …` : message);
    this.name = 'StepFailure';
    this.isFinal = isFinal;
  }
}

/** A step waits for an answer that comes with another request. */
export class Suspended extends Error {
  constructor() {
    super('the step waits for an answer');
    this.name = 'Suspended';
  }
}
