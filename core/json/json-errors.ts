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

  constructor(max: number, offset: number) {
    super(`an object has more than ${max} members`, offset);
    this.name = 'TooManyMembers';
  }
}

/** A message has more objects and arrays than allowed: each costs about a hundred bytes when decoded. */
export class TooManyContainers extends TooManyMembers {
  static {
    brand(TooManyContainers, 'TooManyContainers');
  }

  constructor(max: number, offset: number) {
    super(max, offset);
    this.name = 'TooManyContainers';
    this.message = `there are more than ${max} objects and arrays at byte ${offset}`;
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
