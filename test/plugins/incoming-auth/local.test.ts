import { userInfo } from 'node:os';
import type { Inbound } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import local from '../../../plugins/incoming-auth/local/index.ts';
import { bootPlugin } from '../../support/plugin-core.ts';
import { proves } from '../../support/proves.ts';

const inbound = (remoteAddress: string | undefined): Inbound => ({
  method: 'POST',
  path: '/mcp',
  headers: { authorization: 'Bearer x', 'x-forwarded-for': '127.0.0.1' },
  remoteAddress,
  signal: new AbortController().signal,
});

describe('incoming-auth/local', () => {
  proves('vmcp.config-incoming.type-local', 'identifies callers on this machine as its user', async () => {
    const core = await bootPlugin(local, {});
    const { username } = userInfo();
    for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']) {
      expect(await core.hooks.authenticate.promise(inbound(address))).toEqual({
        issuer: 'toolmgr-local',
        subject: username,
        key: `toolmgr-local\0${username}`,
        name: username,
        claims: { sub: username, iss: 'toolmgr-local', name: username },
      });
    }
  });

  proves('choice.local.loopback-only', 'refuses other machines and unknown addresses', async () => {
    const core = await bootPlugin(local, {});
    for (const address of ['10.0.0.1', '192.168.1.7', '8.8.8.8', 'fe80::1', '::ffff:10.0.0.1', '', undefined]) {
      expect(await core.hooks.authenticate.promise(inbound(address))).toMatchObject({ refused: true, status: 403 });
    }
  });

  it('lets another plugin identify the caller', async () => {
    const core = await bootPlugin(local, {});
    const other = { issuer: 'keys', subject: 'ada', key: 'keys\0ada', claims: {} };
    core.hooks.authenticate.tap('keys', () => other);
    expect(await core.hooks.authenticate.promise(inbound('127.0.0.1'))).toBe(other);
  });

  it('has no configuration', () => {
    expect(local.config.safeParse({ user: 'root' }).success).toBe(false);
  });
});
