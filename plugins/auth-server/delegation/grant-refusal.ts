/** Why a grant is refused (RFC 6749 §5.2, RFC 8693 §2.2.2, RFC 8707 §2). The description has nothing of a token. */
export class GrantRefusal {
  readonly error: 'invalid_request' | 'invalid_grant' | 'invalid_scope' | 'invalid_target';
  readonly description: string;

  constructor(error: GrantRefusal['error'], description: string) {
    this.error = error;
    this.description = description;
  }
}
