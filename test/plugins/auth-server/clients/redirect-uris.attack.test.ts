import { describe, expect, it } from 'vitest';
import { redirectUriProblem } from '../../../../plugins/auth-server/clients/redirect-uri.ts';

const problem = (uri: string, allowsOwnSchemes = true) => redirectUriProblem(uri, { allowsOwnSchemes });

describe('redirect URIs of registrations', () => {
  it.each([
    'https://claude.ai/api/mcp/auth_callback',
    'https://example.com:8443/cb?state=1',
    'https://xn--exmple-cua.com/cb',
    'https://192.0.2.7/cb',
    'http://localhost',
    'http://localhost:3118/callback',
    'http://127.0.0.1/',
    'http://[::1]:1234/cb',
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'com.example.app:/oauth2redirect',
  ])('accepts %s', (uri) => {
    expect(problem(uri)).toBeUndefined();
  });

  it.each([
    ['user information', 'https://claude.ai@evil.example/cb'],
    ['user information without a name', 'https://@evil.example/cb'],
    ['user information before a loopback host', 'http://evil@localhost/cb'],
    ['a loopback name as user information', 'http://localhost:80@evil.example/cb'],
    ['user information in an own scheme', 'cursor://user:secret@anysphere/cb'],
    ['a backslash', 'https://good.example\\@evil.example/cb'],
    ['a backslash after the scheme', 'https:\\\\evil.example/cb'],
    ['a fragment', 'https://good.example/cb#x'],
    ['an empty fragment', 'https://good.example/cb#'],
    ['dot segments', 'https://good.example/a/../b'],
    ['encoded dot segments', 'https://good.example/a/%2e%2E/b'],
    ['a half encoded dot segment', 'cursor://host/.%2e/b'],
    ['a host in Unicode', 'https://еxample.com/cb'],
    ['a full-width dot', 'https://good。example/cb'],
    ['an encoded host', 'https://good%2eexample/cb'],
    ['an encoded slash in the host', 'https://good.example%2f@evil.example/cb'],
    ['a tab', 'https://good.example/\tcb'],
    ['a line end', 'https://good.example/cb\r\nx: y'],
    ['a space before it', ' https://good.example/cb'],
    ['no host', 'https:///good.example/cb'],
    ['one slash', 'https:/good.example/cb'],
    ['a port above the range', 'https://good.example:65536/cb'],
    ['a port that is no number', 'http://localhost:8o80/cb'],
    ['http with a public host', 'http://good.example/cb'],
    ['http with a name below localhost', 'http://localhost.evil.example/cb'],
    ['http with a final dot', 'http://localhost./cb'],
    ['http with a loopback address as one number', 'http://2130706433/cb'],
    ['http with a short loopback address', 'http://127.1/cb'],
    ['http with an octal loopback address', 'http://0177.0.0.1/cb'],
    ['http with another loopback address', 'http://127.0.0.2/cb'],
    ['http with the unspecified address', 'http://0.0.0.0/cb'],
    ['http with a mapped loopback address', 'http://[::ffff:127.0.0.1]/cb'],
    ['a script', 'javascript:alert(1)'],
    ['a script in capitals', 'JavaScript://good.example/%0aalert(1)'],
    ['data', 'data:text/html,<script>alert(1)</script>'],
    ['a file', 'file:///etc/passwd'],
    ['a blob', 'blob:https://good.example/1'],
    ['a view of the source', 'view-source:https://good.example'],
    ['a relative URI', '/cb'],
    ['a URI without scheme', '//evil.example/cb'],
    ['a long URI', `https://good.example/${'a'.repeat(2048)}`],
  ])('refuses %s', (_what, uri) => {
    expect(problem(uri)).toMatch(/^(expected|the scheme)/);
  });

  it('refuses own schemes in metadata documents', () => {
    expect(problem('cursor://anysphere.cursor-mcp/oauth/callback', false)).toMatch('expected https');
  });
});
