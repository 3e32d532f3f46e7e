import { GatewayFault } from '@toolmgr/core';

/** A registry answered a request with an error. */
export class RegistryFault extends GatewayFault {
  /** HTTP status of the answer. */
  readonly answered: number;

  constructor(answered: number, message: string) {
    super('REMOTE_UNAVAILABLE', message);
    this.answered = answered;
  }
}
