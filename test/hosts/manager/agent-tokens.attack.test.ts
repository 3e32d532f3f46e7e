import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { gitMissing, startGitServer } from '../../support/git-server.ts';
import { startManager } from '../../support/manager.ts';
import { skillText } from '../../support/skill-folder.ts';

describe.skipIf(gitMissing() !== undefined)(`an agent that names a git host ${gitMissing() ?? ''}`, () => {
  it('does not make the manager send GIT_TOKEN there; a person who names it does', async () => {
    await using server = await startGitServer('git:s3cret-token');
    await server.commit('org/code-review', { 'SKILL.md': skillText('code-review') });
    await using manager = await startManager({ env: { GIT_TOKEN: 's3cret-token' } });
    await mkdir(join(manager.home, 'config/toolmgr'), { recursive: true });
    await writeFile(join(manager.home, 'config/toolmgr/config.yaml'), 'allow_private_registry_ip: true\n', {
      mode: 0o600,
    });
    const client = new Client({ name: 'agent', version: '1' }, { capabilities: {} });
    const headers = { authorization: `Bearer ${manager.token}` };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${manager.url}/mcp/manager`), { requestInit: { headers } }),
    );
    const ref = `git://${server.host}/org/code-review`;
    const answer = await client.callTool({ name: 'get_skill_content', arguments: { ref } });
    await client.close();
    expect(answer).toMatchObject({ isError: true, structuredContent: { code: 'upstream_unauthorized' } });
    expect(server.seen.filter((each) => each !== undefined)).toEqual([]);
    const read = await manager.request('GET', `/api/v1beta/skills/content?ref=${encodeURIComponent(ref)}`);
    expect(read).toMatchObject({ status: 200, body: { name: 'code-review' } });
  });
});
