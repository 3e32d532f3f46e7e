/** Parameters of the authorization request that the gateway sets itself; a configuration adds others (RFC 6749 §4.1.1, RFC 7636 §4.3). */
export const OWN_PARAMETERS: readonly string[] = [
  'response_type',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
  'nonce',
];
