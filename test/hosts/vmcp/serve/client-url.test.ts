import { expect, it } from 'vitest';
import { clientUrl } from '../../../../hosts/vmcp/serve/client-url.ts';

const SERVED = 'http://127.0.0.1:4483/mcp';
const tokensFor = (audience: string, resource?: string) => ({
  tokens: { issuer: 'http://localhost:4483', audience, scopes: [], ...(resource === undefined ? {} : { resource }) },
});

it('clients are told the URL of the tokens when another one is served', () => {
  expect(clientUrl(tokensFor('http://localhost:4483/mcp'), SERVED)).toBe('http://localhost:4483/mcp');
  expect(clientUrl(tokensFor('team', 'https://gateway.example.com/mcp'), SERVED)).toBe(
    'https://gateway.example.com/mcp',
  );
});

it('clients are told nothing when it is the served one, or no URL', () => {
  expect(clientUrl(tokensFor(SERVED), SERVED)).toBeUndefined();
  expect(clientUrl(tokensFor('team'), SERVED)).toBeUndefined();
  expect(clientUrl(tokensFor('api://team'), SERVED)).toBeUndefined();
  expect(clientUrl({}, SERVED)).toBeUndefined();
});
