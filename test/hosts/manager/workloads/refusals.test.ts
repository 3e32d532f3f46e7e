import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../../../hosts/manager/workloads/refusals.ts';
import { UsageError } from '../../../../hosts/shared/usage-error.ts';

describe('a fault of the command line', () => {
  it.each([
    ['--isolate-network: the network host cannot be isolated', 'network_isolation'],
    ['--remote-auth-client-id: expected a client', 'oauth_config.client_id'],
    ['--oidc-jwks-url: expected a URL', 'oidc.jwks_url'],
    ['--volume: expected a mount', 'volumes'],
    ['--build-with: expected a version', 'runtime_config.build_with'],
  ])('names the member of the body: %s', (fault, path) => {
    const detail = fault.replace(/^.*: /, '');
    expect(refusalOf(new UsageError(fault))).toMatchObject({
      detail: `${path}: ${detail}`,
      errors: [{ in: 'body', path, detail }],
    });
  });
});
