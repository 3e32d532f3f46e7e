import type { Refusal } from '../contract/refusal.ts';
import { brand } from '../errors/brand.ts';

/** Thrown by a virtual entry to answer its call with a refusal, e.g. that of a call which it made for its caller. */
export class CallRefused extends Error {
  static {
    brand(CallRefused, 'CallRefused');
  }

  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.reason);
    this.name = 'CallRefused';
    this.refusal = refusal;
  }
}
