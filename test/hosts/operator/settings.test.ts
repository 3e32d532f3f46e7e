import { describe, expect, test } from 'vitest';
import { DEFAULT_IMAGE, settingsFrom } from '../../../hosts/operator/settings.ts';

const own = { namespace: 'toolmgr', identity: 'host-1' };

describe('the environment of the operator', () => {
  test('may be empty', () => {
    expect(settingsFrom({}, own)).toEqual({
      namespaces: [],
      namespace: 'toolmgr',
      identity: 'host-1',
      image: DEFAULT_IMAGE,
      imagePullSecrets: [],
      isOpenShift: false,
    });
  });

  test('sets namespaces, image, pull secrets and the default session storage', () => {
    const env = {
      WATCH_NAMESPACE: 'a, b,,a',
      POD_NAMESPACE: 'system',
      POD_NAME: 'operator-1',
      TOOLMGR_IMAGE: 'registry.local/toolmgr:1',
      TOOLMGR_DEFAULT_IMAGE_PULL_SECRETS: 'one,two',
      TOOLMGR_OPENSHIFT: 'true',
      TOOLMGR_LEASE_NAME: 'second-operator',
      TOOLMGR_DEFAULT_REDIS_ADDR: 'redis.system:6379',
      TOOLMGR_DEFAULT_REDIS_SECRET_NAME: 'redis',
    };
    expect(settingsFrom(env, own)).toEqual({
      namespaces: ['a', 'b'],
      namespace: 'system',
      identity: 'operator-1',
      leaseName: 'second-operator',
      image: 'registry.local/toolmgr:1',
      imagePullSecrets: ['one', 'two'],
      isOpenShift: true,
      redis: { address: 'redis.system:6379', password: { name: 'redis', key: 'password' } },
    });
    expect(settingsFrom({ ...env, TOOLMGR_DEFAULT_REDIS_SECRET_KEY: 'pass' }, own).redis?.password?.key).toBe('pass');
    expect(settingsFrom({ TOOLMGR_DEFAULT_REDIS_ADDR: '[::1]:6379' }, own).redis).toEqual({ address: '[::1]:6379' });
  });

  test.each([
    [{ WATCH_NAMESPACE: 'Team_A' }, "WATCH_NAMESPACE: 'Team_A' is not a name of a namespace"],
    [{ TOOLMGR_OPENSHIFT: 'yes' }, 'TOOLMGR_OPENSHIFT: expected true or false, but got "yes"'],
    [{ TOOLMGR_DEFAULT_REDIS_ADDR: 'redis' }, 'TOOLMGR_DEFAULT_REDIS_ADDR: expected host:port, but got "redis"'],
    [{ TOOLMGR_DEFAULT_REDIS_SECRET_NAME: 'r' }, 'TOOLMGR_DEFAULT_REDIS_ADDR is missing'],
    [
      { TOOLMGR_DEFAULT_REDIS_ADDR: 'r:1', TOOLMGR_DEFAULT_REDIS_SECRET_KEY: 'k' },
      'TOOLMGR_DEFAULT_REDIS_SECRET_NAME is missing',
    ],
  ])('is refused by the name of the variable: %j', (env, message) => {
    expect(() => settingsFrom(env, own)).toThrow(message);
  });
});
