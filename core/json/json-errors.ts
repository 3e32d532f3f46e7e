import { brand } from '../errors/brand.ts';
/** The text is not JSON, or not of the requested shape. `offset` is a byte position. */
export class RawJsonError extends Error {
  static {
    brand(RawJsonError, 'RawJsonError');
  }

  readonly offset: number;

  constructor(message: string, offset: number) {
    super(`${message} at byte ${offset}`);
    this.name = 'RawJsonError';
    this.offset = offset;
  }
}

/** An object has more members than allowed. */
export class TooManyMembers extends RawJsonError {
  static {
    brand(TooManyMembers, 'TooManyMembers');
  }

  /** The message without the position. */
  readonly reason: string;

  constructor(max: number, offset: number, reason = `an object has more than ${max} members`) {
    super(reason, offset);
    this.reason = reason;
    this.name = 'TooManyMembers';
  }
}

/** A message has more objects and arrays than allowed: each costs about a hundred bytes when decoded. */
export class TooManyContainers extends TooManyMembers {
  static {
    brand(TooManyContainers, 'TooManyContainers');
  }

  constructor(max: number, offset: number) {
    super(max, offset, `there are more than ${max} objects and arrays`);
    this.name = 'TooManyContainers';
  }
}

/** A message has more values than allowed: reading them would occupy the event loop. */
export class TooManyValues extends TooManyMembers {
  static {
    brand(TooManyValues, 'TooManyValues');
  }

  constructor(max: number, offset: number) {
    super(max, offset, `there are more than ${max} values`);
    this.name = 'TooManyValues';
  }
}

/** An array has more elements than allowed. */
export class TooManyElements extends RawJsonError {
  static {
    brand(TooManyElements, 'TooManyElements');
  }

  constructor(max: number, offset: number) {
    super(`an array has more than ${max} elements`, offset);
    this.name = 'TooManyElements';
  }
}
