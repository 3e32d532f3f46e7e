import { type Backend, explainIssues } from '@toolmgr/core';
import { describe, expect } from 'vitest';
import plugin from '../../../plugins/backend-sources/static/index.ts';
import { bootPlugin } from '../../support/plugin-core.ts';
import { proves } from '../../support/proves.ts';

const memory = { name: 'memory', url: 'http://127.0.0.1:1/mcp', transport: 'streamable-http' } as const;

function problems(config: unknown): readonly string[] {
  const read = plugin.config.safeParse(config);
  return read.success ? [] : explainIssues('', plugin.config, read.error);
}

describe('backend-sources/static', () => {
  proves('ask.plugin.static', 'pushes the backends once and runs until it is aborted', async () => {
    const command = { file: 'node', args: ['s.js'], env: { A: '1' } };
    const core = await bootPlugin(plugin, { backends: [memory, { name: 'local', transport: 'stdio', command }] });
    const source = core.slots.backendSources.get('backend-sources/static');
    const snapshots: (readonly Backend[])[] = [];
    const abort = new AbortController();
    const watching = source.watch((snapshot) => snapshots.push(snapshot), abort.signal);
    abort.abort();
    await watching;
    expect(snapshots).toEqual([[memory, { name: 'local', transport: 'stdio', command }]]);
  });

  proves(['vmcp.backends.metadata', 'vmcp.backends.metadata-group'], 'sets the group in the metadata', async () => {
    const listed = { ...memory, metadata: { group: 'mine', team: 'a' } };
    const core = await bootPlugin(plugin, { group: 'theirs', backends: [listed] });
    const abort = new AbortController();
    abort.abort();
    let got: readonly Backend[] = [];
    await core.slots.backendSources.get('backend-sources/static').watch((snapshot) => {
      got = snapshot;
    }, abort.signal);
    expect(got).toEqual([{ ...memory, metadata: { group: 'theirs', team: 'a' } }]);
  });

  proves(
    [
      'vmcp.backends.name',
      'vmcp.backends.url',
      'vmcp.backends.transport',
      'vmcp.backends.type',
      'vmcp.backends.ca-bundle-path',
      'vmcp.backends.metadata',
    ],
    'reports every error with its path',
    () => {
      const wrong: readonly [object, RegExp][] = [
        [{ ...memory, transprot: 'sse' }, /backends\[0\]: unknown key "transprot", did you mean "transport"/],
        [{ ...memory, transport: undefined }, /backends\[0\]\.transport: /],
        [{ ...memory, transport: 'http' }, /backends\[0\]\.transport: /],
        [{ ...memory, name: undefined }, /backends\[0\]\.name: /],
        [{ ...memory, metadata: { team: 1 } }, /backends\[0\]\.metadata\.team: /],
        [{ ...memory, url: 'ftp://x' }, /backends\[0\]\.url: url must begin with http:\/\/ or https:\/\//],
        [{ ...memory, url: 'http://u:geheim@x' }, /url must not contain a password/],
        [{ ...memory, url: undefined }, /backends\[0\]\.url: transport streamable-http needs a url/],
        [{ ...memory, transport: 'stdio' }, /backends\[0\]\.command: transport stdio needs a command/],
        [{ ...memory, command: { file: 'x' } }, /backends\[0\]\.command: a command needs transport stdio/],
        [{ ...memory, caBundlePath: '/ca' }, /backends\[0\]\.caBundlePath: .* only to /],
        [{ ...memory, type: 'other' }, /backends\[0\]\.type/],
        [{ ...memory, name: '' }, /backends\[0\]\.name/],
      ];
      for (const [backend, sentence] of wrong) expect(problems({ backends: [backend] }).join('\n')).toMatch(sentence);
      expect(problems({ backends: [{ ...memory, url: 'http://u:geheim@x' }] }).join()).not.toContain('geheim');
      expect(problems({ backends: [memory, memory] })).toEqual(['backends[1].name: name memory is a duplicate']);
      expect(
        problems({ backends: [{ ...memory, type: 'entry', caBundlePath: '/ca', era: 'modern', sessions: 'shared' }] }),
      ).toEqual([]);
    },
  );
});
