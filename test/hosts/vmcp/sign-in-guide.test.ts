import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { readConfig } from '../../../hosts/vmcp/read-config.ts';
import { catalogue } from '../../../plugins/index.ts';

type Node = Readonly<Record<string, unknown>>;

const PAGE = await readFile(join(import.meta.dirname, '../../../docs/guides/sign-in.md'), 'utf8');

/** Blocks with the heading above them. */
const written = PAGE.split(/^#+ /m).flatMap((part) => {
  const [title = ''] = part.split('\n', 1);
  return [...part.matchAll(/^```yaml[^\n]*\n([\s\S]*?)^```$/gm)].map(([, text = '']) => ({
    title,
    given: parse(text) as Node,
  }));
});
const quickStart = blockOf('Quick start');

function blockOf(title: string): Node {
  const found = written.find((block) => block.title === title);
  if (found === undefined) throw new Error(`the guide has no block under "${title}"`);
  return found.given;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The sections of `over` in those of `base`; lists are replaced. */
function merged(base: Node, over: Node): Node {
  const entries = Object.entries(over).map(([key, value]): [string, unknown] => {
    const before = base[key];
    return [key, isNode(before) && isNode(value) ? merged(before, value) : value];
  });
  return { ...base, ...Object.fromEntries(entries) };
}

/** The file of a reader who put a block into that of the quick start. */
function fileWith(block: Node): Node {
  if (block === quickStart) return block;
  const { outgoingAuth } = block;
  if (isNode(outgoingAuth) && isNode(outgoingAuth.backends)) {
    const backends = Object.keys(outgoingAuth.backends).map((name) => ({
      ...{ name, url: `https://${name}.example.com/mcp`, transport: 'streamable-http' },
    }));
    const own = { ...quickStart, outgoingAuth: {}, backends };
    return merged(merged(own, blockOf('Several providers')), block);
  }
  const file = merged(quickStart, block);
  const { authServerConfig } = block;
  const hasProviders = isNode(authServerConfig) && authServerConfig.upstreamProviders !== undefined;
  return hasProviders ? { ...file, outgoingAuth: { source: 'inline' } } : file;
}

describe('the guide to signing in', () => {
  it.each(written)('has a valid block without warnings: $title', async ({ given }) => {
    const { warnings } = await readConfig(stringify(fileWith(given)), 'vmcp.yaml', catalogue);
    expect(warnings).toEqual([]);
  });

  it('names the providers that people ask for', () => {
    const titles = written.map(({ title }) => title);
    expect(titles).toEqual(
      expect.arrayContaining(['Microsoft Entra ID', 'Google', 'GitHub', 'Okta', 'Keycloak', 'Redis and replicas']),
    );
    expect(titles.length).toBeGreaterThan(12);
  });
});
