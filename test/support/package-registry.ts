import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LoopbackServer, loopbackServer } from './loopback-server.ts';

/** One registry that speaks the protocols of npm, of a Python index (PEP 691) and of a Go module proxy, with what was published. */
export interface PackageRegistry extends LoopbackServer {
  /** Publishes a version of an npm package: a stdio MCP server with these tools, or one that ends at once. */
  publish(name: string, version: string, tools: readonly object[] | 'broken'): void;
  /** Releases of a Python project, or of a Go module, by the path of their list; `yanked ` in front: yanked. */
  readonly files: Map<string, readonly string[]>;
}

/** Starts it at a loopback port. `folder`: for the archives. */
export async function startPackageRegistry(folder: string): Promise<PackageRegistry> {
  const versions = new Map<string, Record<string, object>>();
  const files = new Map<string, readonly string[]>();
  const server = await loopbackServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '/');
    if (path.endsWith('.tgz')) return void response.end(readFileSync(join(folder, path)));
    const published = versions.get(path.slice(1));
    const listed = files.get(path);
    if (published !== undefined) {
      const latest = Object.keys(published).at(-1);
      const document = { name: path.slice(1), 'dist-tags': { latest }, versions: published };
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
    }
    if (listed === undefined) return void response.writeHead(404).end('{"error":"not found"}');
    if (path.endsWith('/@v/list')) return void response.end(`${listed.join('\n')}\n`);
    const entries = listed.map((filename) =>
      filename.startsWith('yanked ') ? { filename: filename.slice(7), yanked: 'bad' } : { filename, yanked: false },
    );
    response
      .writeHead(200, { 'content-type': 'application/vnd.pypi.simple.v1+json' })
      .end(JSON.stringify({ meta: { 'api-version': '1.1' }, name: path, files: entries }));
  });
  return Object.assign(server, {
    files,
    publish(name: string, version: string, tools: readonly object[] | 'broken'): void {
      const made = join(folder, `${name}-${version}`);
      mkdirSync(join(made, 'package'), { recursive: true });
      const about = { name, version, bin: { [name]: 'server.mjs' } };
      writeFileSync(join(made, 'package/package.json'), JSON.stringify(about));
      writeFileSync(join(made, 'package/server.mjs'), tools === 'broken' ? BROKEN : serverWith(tools), { mode: 0o755 });
      const file = join(folder, `${name}-${version}.tgz`);
      execFileSync('tar', ['czf', file, '-C', made, 'package']);
      const integrity = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
      const dist = { tarball: `${server.url}/${name}-${version}.tgz`, integrity };
      versions.set(name, { ...versions.get(name), [version]: { ...about, dist } });
    },
  });
}

const BROKEN = '#!/usr/bin/env node\nprocess.exit(3);\n';

function serverWith(tools: readonly object[]): string {
  return `#!/usr/bin/env node
import { createInterface } from 'node:readline';
const answer = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'initialize') {
    const { protocolVersion } = params;
    return answer(id, { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'pack', version: '1' } });
  }
  if (method === 'tools/list') return answer(id, { tools: ${JSON.stringify(tools)} });
  if (method === 'ping') return answer(id, {});
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } }) + '\\n');
});
`;
}
