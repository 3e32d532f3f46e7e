import { readPlan } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { createPassthrough, passthroughProblem } from '../../../core/pipeline/passthrough-headers.ts';
import { proves } from '../../support/proves.ts';

/** The list of the contract and of the hop-by-hop headers of HTTP. */
const RESTRICTED = [
  'Host',
  'Connection',
  'Keep-Alive',
  'TE',
  'Trailer',
  'Upgrade',
  'HTTP2-Settings',
  'Proxy-Authorization',
  'Proxy-Authenticate',
  'Proxy-Connection',
  'Transfer-Encoding',
  'Content-Length',
  'Forwarded',
  'X-Forwarded-For',
  'X-Forwarded-Host',
  'X-Forwarded-Proto',
  'X-Forwarded-Anything',
  'X-Real-IP',
];

describe('passthrough headers', () => {
  proves('vmcp.config.passthrough-headers-restricted', 'are refused when they belong to the connection', () => {
    for (const name of RESTRICTED) {
      for (const spelled of [name, name.toLowerCase(), name.toUpperCase()]) {
        expect(passthroughProblem(spelled), spelled).toBe(
          `the header ${spelled} is restricted and cannot be passed through`,
        );
      }
    }
  });

  proves(
    'choice.passthrough.credentials',
    'are refused in every plan when they are credentials or belong to MCP',
    () => {
      const names = ['Authorization', 'Cookie', 'Mcp-Session-Id', 'MCP-Name', 'mcp-param-x', 'Content-Type', 'Accept'];
      for (const name of [...names, 'Accept-Encoding', 'Content-Encoding', 'Expect', 'Last-Event-ID', '__proto__']) {
        const read = () => readPlan({ plugins: [], passthroughHeaders: ['X-Ok', name] });
        expect(read, name).toThrow(`plan.passthroughHeaders[1]: the header ${name} is restricted`);
      }
    },
  );

  proves('choice.passthrough.underscores', 'are refused when only underscores tell them from restricted ones', () => {
    for (const name of ['X_Forwarded_For', 'x_forwarded-host', 'x_real_ip', 'mcp_session_id', 'Content_Length']) {
      expect(passthroughProblem(name), name).toContain('is restricted');
    }
  });

  it.each(['', ' ', 'a b', 'x-a\r\nx-b', 'x-a:', 'x-ä', 'x\0', '"x"', 'x,y'])(
    'are refused when %j is no name',
    (name) => {
      expect(passthroughProblem(name)).toBe('expected a header name (RFC 9110 token)');
    },
  );

  it.each(['X-Tenant', 'x_tenant', 'Traceparent', 'User-Agent', 'X-Forward'])('may be %s', (name) => {
    expect(passthroughProblem(name)).toBeUndefined();
  });

  it('are found whatever their spelling in the list, once each', () => {
    const pick = createPassthrough(['X-Tenant', 'x-tenant', 'X-Trace']);
    expect(pick?.({ 'x-tenant': 'blue', 'x-trace': '1', 'x-other': 'no' })).toEqual({
      'x-tenant': 'blue',
      'x-trace': '1',
    });
    expect(pick?.({ 'x-other': 'no' })).toEqual({});
  });

  it('are headers of the request, never what every object has', () => {
    const pick = createPassthrough(['constructor', 'toString', 'hasOwnProperty']);
    expect(pick?.({})).toEqual({});
  });

  proves('choice.passthrough.connection-listed', 'stay here when Connection lists them', () => {
    const pick = createPassthrough(['x-tenant', 'x-trace']);
    const headers = { 'x-tenant': 'blue', 'x-trace': '1' };
    expect(pick?.({ ...headers, connection: 'keep-alive' })).toEqual(headers);
    expect(pick?.({ ...headers, connection: 'close,  X-Tenant ' })).toEqual({ 'x-trace': '1' });
  });
});
