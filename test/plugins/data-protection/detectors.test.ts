import { describe, expect, it } from 'vitest';
import { DETECTORS } from '../../../plugins/data-protection/detectors.ts';
import { findIn, masked } from '../../../plugins/data-protection/find.ts';
import { proves } from '../../support/proves.ts';

const namesIn = (text: string, key?: string) => findIn(text, key, DETECTORS).map(({ detector }) => detector.name);

describe('the table of detectors', () => {
  for (const detector of DETECTORS) {
    proves('ask.protection.detectors', `${detector.name} finds its examples, and nothing in the others`, () => {
      for (const text of detector.finds) expect(findIn(text, undefined, [detector]), text).toHaveLength(1);
      for (const text of detector.ignores) expect(findIn(text, undefined, [detector]), text).toEqual([]);
      for (const text of detector.finds) {
        const between = `first line\n${text}\nlast line`;
        const out = masked(between, findIn(between, undefined, [detector]));
        expect(out, text).toContain(`[${detector.name}]`);
        expect(out.startsWith('first line\n')).toBe(true);
        expect(findIn(out, undefined, [detector]), out).toEqual([]);
      }
    });
  }

  it('has names and kinds that a configuration can tell apart', () => {
    const names = DETECTORS.map(({ name }) => name);
    expect(new Set([...names, 'secret', 'personal']).size).toBe(names.length + 2);
    for (const { name, pattern, finds, ignores } of DETECTORS) {
      expect(name).toMatch(/^[a-z-]+$/);
      expect(pattern.global).toBe(true);
      expect(Math.min(finds.length, ignores.length)).toBeGreaterThan(0);
    }
  });

  it('names a text by the first detector of the table where several find it', () => {
    const token = ['gh', `p_${'q7Zk2LmX9pTw4RbVc8Hd3NsY6jFg1KaQ5eUo'}`].join('');
    const text = `token=${token} and card 4111 1111 1111 1111.`;
    expect(masked(text, findIn(text, undefined, DETECTORS))).toBe('token=[github-token] and card [card-number].');
  });

  it('reads the key of a member, whose value alone says nothing', () => {
    const value = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
    expect(namesIn(value)).toEqual([]);
    expect(namesIn(value, 'SecretAccessKey')[0]).toBe('aws-secret-access-key');
    expect(namesIn('q7Zk2LmX9pTw4RbV', 'password')).toEqual(['generic-secret']);
    expect(namesIn('q7Zk2LmX9pTw4RbV', 'nextPageToken')).toEqual([]);
    expect(masked('q7Zk2LmX9pTw4RbV', findIn('q7Zk2LmX9pTw4RbV', 'password', DETECTORS))).toBe('[generic-secret]');
  });

  it('leaves prose after the beginning of a private key, and takes its last short line', () => {
    const key = ['-----BEGIN PRIVATE', ` KEY-----\nq7Zk2LmX9pTw4RbVc8Hd3NsY\nq7Z=\n-----END PRIVATE`, ' KEY-----'].join(
      '',
    );
    const prose = ['-----BEGIN PRIVATE', ' KEY-----\nis what a key begins with'].join('');
    for (const text of [
      key,
      key.replaceAll('\n', '\\n'),
      key.replaceAll('\n', ' '),
      key.slice(0, 57),
      key.replaceAll('\n', '\r\n'),
    ])
      expect(masked(text, findIn(text, undefined, DETECTORS))).toBe('[private-key]');
    expect(masked(prose, findIn(prose, undefined, DETECTORS))).toBe('[private-key]\nis what a key begins with');
  });

  it('finds nothing in texts that tools often return', () => {
    const texts = [
      'commit 3f9d0c3f1c1f0a4c8e0b6a1e7f1fb2d1c7f7ce4b at 2026-11-28T17:00:13.123Z by the bot',
      '{"id":"0b6a1e7f-1fb2-4d1c-8f7c-e4bd0a2a1c9d","at":1764349200123,"ratio":0.4111111111111111}',
      'npm i lodash@4.17.21 @types/node@22.19.0 && git push git@localhost:x.git',
      'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      'the passwords: see chapter 12, token: string, "secret": true, api_key=<your key here>',
      '127.0.0.1:4483 192.168.100.200 2001:db8::1 +0200 1+2 (2026) 100-20-3000000',
    ];
    for (const text of texts) expect(namesIn(text), text).toEqual([]);
  });
});
