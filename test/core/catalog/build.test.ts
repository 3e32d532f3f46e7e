import { type CatalogDraft, renamed, type ToolEntry } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { built, keysOf } from '../../support/catalogs.ts';
import { listingOf, listingsOf, rawItem } from '../../support/listings.ts';
import { proves } from '../../support/proves.ts';

const ODD =
  '{"z":1e400, "name" : "t","big":12345678901234567890123,"inputSchema":{"type":"object"},"icons":[{"src":"x"}],"_meta":{"ui":{"a":1}}}';

/** Holds the tools of one backend. */
const holding = (backend: string) => (draft: CatalogDraft) => ({
  ...draft,
  tools: draft.tools.map((tool): ToolEntry => (tool.backend === backend ? { ...tool, held: 'it is new' } : tool)),
});

describe('the catalogue without plugins', () => {
  proves('choice.aggregation.sorted-tools', 'lists tools sorted by name, not by backend', () => {
    const { catalog } = built(listingsOf({ b: { tools: ['m', 'A'] }, a: { tools: ['z', 'é'] } }));
    expect(keysOf(catalog, 'tool')).toEqual(['A', 'm', 'z', 'é']);
  });

  proves('choice.aggregation.sorted-others', 'lists prompts, resources and templates sorted by key', () => {
    const { catalog } = built(
      listingsOf({
        b: { prompts: ['q', 'o'], resources: ['x://2'], templates: ['y://{b}'] },
        a: { prompts: ['p'], resources: ['x://3', 'x://1'], templates: ['y://{a}'] },
      }),
    );
    expect(keysOf(catalog, 'prompt')).toEqual(['o', 'p', 'q']);
    expect(keysOf(catalog, 'resource')).toEqual(['x://1', 'x://2', 'x://3']);
    expect(keysOf(catalog, 'template')).toEqual(['y://{a}', 'y://{b}']);
  });

  proves('choice.aggregation.claims-dropped', 'gives a tool that two backends list to neither, with an error', () => {
    const { catalog, errors } = built(listingsOf({ b: { tools: ['t', 'u'] }, a: { tools: ['t'] } }));
    expect(keysOf(catalog, 'tool')).toEqual(['u']);
    expect(catalog.find('tool', 't')).toBeUndefined();
    expect(catalog.findForInnerCall('t')).toBeUndefined();
    expect(errors).toEqual(['tool "t" is dropped: a, b all claim that name']);
    expect(catalog.warnings).toEqual(errors);
  });

  it('lets no backend replace a virtual tool', () => {
    const shape = (draft: CatalogDraft) => ({ ...draft, tools: [...draft.tools, virtualTool('t')] });
    const { catalog } = built(listingsOf({ a: { tools: ['t'] } }), { shape });
    expect(catalog.find('tool', 't')?.backend).toBe('zz/virtual');
    expect(catalog.warnings).toEqual(['tool "t" of a is dropped: zz/virtual has the name too']);
  });

  it('names the plugin and the tool whose definition is no JSON object', () => {
    const own = { ...virtualTool('t'), definition: { name: 't' } as unknown as Buffer };
    const shape = (draft: CatalogDraft) => ({ ...draft, tools: [own] });
    expect(() => built(new Map(), { shape })).toThrow(
      'tool "t" of zz/virtual: its definition must be the bytes of a JSON object, as encode() makes them',
    );
  });

  proves('choice.aggregation.prompt-ambiguity-dropped', 'drops a prompt for all who claim its name', () => {
    const { catalog, errors } = built(listingsOf({ b: { prompts: ['p', 'q'] }, a: { prompts: ['p'] } }));
    expect(keysOf(catalog, 'prompt')).toEqual(['q']);
    expect(catalog.find('prompt', 'p')).toBeUndefined();
    expect(errors).toEqual(['prompt "p" is dropped: a, b all claim that name']);
    expect(catalog.warnings).toEqual(errors);
  });

  proves(
    ['choice.aggregation.resource-duplicate-dropped', 'choice.aggregation.template-duplicate-dropped'],
    'gives a URI or template that two backends list to neither, with an error',
    () => {
      const offer = { resources: ['x://1'], templates: ['x://t/{id}'] };
      const { catalog, errors } = built(listingsOf({ b: offer, a: offer }));
      expect([...catalog.visible('resource'), ...catalog.visible('template')]).toEqual([]);
      expect([catalog.findResource('x://1'), catalog.findResource('x://t/1')]).toEqual([undefined, undefined]);
      expect(errors).toEqual([
        'resource "x://1" is dropped: a, b all claim that name',
        'template "x://t/{id}" is dropped: a, b all claim that name',
      ]);
    },
  );

  proves(
    'choice.aggregation.read-exact-first',
    'finds a resource by its exact URI before a template of its backend',
    () => {
      const { catalog } = built(listingsOf({ b: { templates: ['x://{id}'], resources: ['x://1'] } }));
      expect(catalog.findResource('x://1')).toMatchObject({ kind: 'resource', backend: 'b' });
      expect(catalog.findResource('x://2')).toMatchObject({ kind: 'template', backend: 'b' });
    },
  );

  proves('choice.aggregation.read-by-template', 'finds a resource by the first template in sorted order', () => {
    const { catalog } = built(listingsOf({ a: { templates: ['x://{z}', 'x://{+a}'] }, b: { templates: ['y://{b}'] } }));
    expect(catalog.findResource('x://2')).toMatchObject({ key: 'x://{+a}', backend: 'a' });
    expect(catalog.findResource('y://2')).toMatchObject({ backend: 'b' });
    expect(catalog.findResource('z://2')).toBeUndefined();
    expect(catalog.findTemplate('x://{z}')?.backend).toBe('a');
    expect(catalog.findTemplate('x://2')).toBeUndefined();
  });

  describe('lets no backend take over a URI', () => {
    proves('choice.aggregation.uri-claims', 'by listing what the template of another makes', () => {
      const { catalog, errors } = built(
        listingsOf({ a: { resources: ['db://users', 'db2://own'] }, b: { templates: ['db://{table}'] } }),
      );
      expect(keysOf(catalog, 'resource')).toEqual(['db2://own']);
      expect(catalog.findResource('db://users')).toBeUndefined();
      expect(catalog.findResource('db://orders')).toMatchObject({ backend: 'b' });
      expect(errors).toEqual(['resource "db://users" is dropped: a, b all claim that URI in their lists or templates']);
      expect(catalog.conflicts).toEqual([{ kind: 'resource', name: 'db://users', backends: ['a', 'b'] }]);
    });

    proves('choice.aggregation.uri-claims', 'by a template that sorts earlier, is wider or narrower', () => {
      const { catalog } = built(
        listingsOf({
          a: { templates: ['db://h/{+any}', 'db://x/{a}'] },
          b: { templates: ['db://h/{z}', 'db://{h}/{z}'] },
        }),
      );
      expect(catalog.findResource('db://h/1')).toBeUndefined();
      expect(catalog.findResource('db://x/1')).toBeUndefined();
      expect(catalog.findResource('db://h/1/2')).toMatchObject({ backend: 'a' });
      expect(catalog.findResource('db://y/1')).toMatchObject({ backend: 'b' });
    });

    proves(
      'choice.aggregation.uri-claims',
      'by a template for everything: it gets the URIs without another match',
      () => {
        const { catalog, errors } = built(
          listingsOf({ a: { templates: ['{+uri}'] }, b: { templates: ['db://{table}'], resources: ['memo://1'] } }),
        );
        expect(catalog.findResource('db://users')).toMatchObject({ backend: 'b' });
        expect(catalog.findResource('memo://1')).toMatchObject({ backend: 'b' });
        expect(catalog.findResource('web://x')).toMatchObject({ backend: 'a' });
        expect(errors).toEqual([]);
      },
    );
  });

  it('matches no more templates of a backend than it has parts for, and says so', () => {
    const parts = '{a}{b}{c}{d}'.repeat(15);
    const templates = Array.from({ length: 30 }, (_, n) => `${parts}${n + 10}`);
    const { catalog } = built(listingsOf({ a: { templates }, b: { templates: ['x://{b}'] } }));
    expect(catalog.visible('template')).toHaveLength(31);
    expect(catalog.warnings.length).toBeGreaterThan(10);
    expect(catalog.warnings[0]).toContain('templates of more than 1024 parts');
    expect(catalog.findResource('x://1')).toMatchObject({ backend: 'b' });
  });

  it('says when a template can be listed but never matched', () => {
    const { catalog } = built(listingsOf({ a: { templates: ['x://{'] } }));
    expect(keysOf(catalog, 'template')).toEqual(['x://{']);
    expect(catalog.warnings).toEqual(['template "x://{" of a is listed, but no URI can be matched against it']);
  });

  proves('choice.aggregation.dot-alias-inside-only', 'resolves workload.tool inside and never for a client', () => {
    const { catalog } = built(listingsOf({ a: { tools: ['t'] } }));
    expect(catalog.findForInnerCall('a.t')?.key).toBe('t');
    expect(catalog.find('tool', 'a.t')).toBeUndefined();
  });

  it('resolves inside by advertised name, then by original, then by the advertised name behind its workload', () => {
    const shape = (draft: CatalogDraft) => ({
      ...draft,
      tools: draft.tools.map((tool) => (tool.original === 'old' ? renamed(tool, 'new', 'test') : tool)),
    });
    const { catalog } = built(listingsOf({ a: { tools: ['old', 'b.old'] }, b: { tools: ['old2'] } }), { shape });
    expect(catalog.findForInnerCall('new')?.original).toBe('old');
    expect(catalog.findForInnerCall('a.old')?.original).toBe('old');
    expect(catalog.findForInnerCall('a.new')?.original).toBe('old');
    expect(catalog.findForInnerCall('old')).toBeUndefined();
    expect(catalog.findForInnerCall('b.old')?.backend).toBe('a');
  });

  it('gives the names of a held tool to other tools, also for inner calls', () => {
    const lists = listingsOf({ a: { tools: ['t', 'b.c', 'own'] }, 'a.b': { tools: ['c'] }, z: { tools: ['t'] } });
    const { catalog } = built(lists, { shape: holding('a') });
    expect(catalog.findForInnerCall('t')?.backend).toBe('z');
    expect(catalog.findForInnerCall('a.b.c')?.backend).toBe('a.b');
    expect(['a.t', 'own'].map((name) => catalog.findForInnerCall(name)?.held)).toEqual(['it is new', 'it is new']);
    const hidden = (draft: CatalogDraft) => {
      const { tools, ...rest } = holding('a')(draft);
      return { ...rest, tools: tools.map((tool): ToolEntry => ({ ...tool, hiddenBy: 'filter' })) };
    };
    expect(built(lists, { shape: hidden }).catalog.findForInnerCall('t')?.backend).toBe('z');
  });

  proves('choice.aggregation.inside-claims', 'lets no backend take a name that inner calls use for another', () => {
    const { catalog } = built(
      listingsOf({
        a: { tools: ['b.t', 'c.d.e'] },
        b: { tools: ['t'] },
        c: { tools: ['d.e'] },
        'c.d': { tools: ['e'] },
      }),
    );
    expect(catalog.find('tool', 'b.t')?.backend).toBe('a');
    expect(catalog.findForInnerCall('b.t')?.backend).toBe('b');
    expect(catalog.findForInnerCall('a.b.t')?.backend).toBe('a');
    const shape = (draft: CatalogDraft) => ({
      ...draft,
      tools: draft.tools.map((tool): ToolEntry => ({ ...tool, hiddenBy: 'filter' })),
    });
    const hidden = built(listingsOf({ a: { tools: ['t'] }, b: { tools: ['t'] } }), { shape }).catalog;
    expect(hidden.findForInnerCall('t')).toBeUndefined();
    expect([hidden.findForInnerCall('a.t')?.backend, hidden.findForInnerCall('b.t')?.backend]).toEqual(['a', 'b']);
  });

  it('keeps a hidden tool for inner calls, also behind a visible one of its name', () => {
    const hide = (tool: ToolEntry): ToolEntry => (tool.backend === 'a' ? { ...tool, hiddenBy: 'filter' } : tool);
    const shape = (draft: CatalogDraft) => ({ ...draft, tools: draft.tools.map(hide) });
    const { catalog } = built(listingsOf({ a: { tools: ['t', 'u'] }, b: { tools: ['t'] } }), { shape });
    expect(keysOf(catalog, 'tool')).toEqual(['t']);
    expect(catalog.find('tool', 't')?.backend).toBe('b');
    expect(catalog.findForInnerCall('t')?.backend).toBe('b');
    expect(catalog.findForInnerCall('a.t')?.backend).toBe('a');
    expect(catalog.find('tool', 'u')).toBeUndefined();
    expect(catalog.findForInnerCall('u')?.backend).toBe('a');
    expect(catalog.allTools()).toHaveLength(3);
  });

  it('counts a name that one backend lists twice once', () => {
    const { catalog } = built(listingsOf({ a: { prompts: ['p', { name: 'p', title: 'second' }] } }));
    expect(catalog.find('prompt', 'p')?.definition.toString()).toBe('{"name":"p"}');
    expect(catalog.warnings).toEqual(['backend a lists prompt "p" more than once: the first one is used']);
  });

  it.each(['[]', '"t"', '{"name":"t"', '{"name":"t","x":truu}', '{"name":"t","x":01}', ''])(
    'leaves out an item that is no JSON object: %s',
    (text) => {
      const listing = { ...listingOf('a', { tools: ['ok'] }), resources: [rawItem('t', text)] };
      const { catalog } = built(new Map([['a', listing]]));
      expect(catalog.visible('resource')).toEqual([]);
      expect(keysOf(catalog, 'tool')).toEqual(['ok']);
      expect(catalog.warnings).toEqual(['backend a lists resource "t" with a definition that is not a JSON object']);
    },
  );

  it('leaves out an item that is not UTF-8', () => {
    const torn = { key: 't', definition: Buffer.from('7b2261223a22ff227d', 'hex') };
    const { catalog } = built(new Map([['a', { ...listingOf('a', {}), tools: [torn] }]]));
    expect(catalog.visible('tool')).toEqual([]);
    expect(catalog.warnings).toHaveLength(1);
  });
});

describe('a definition', () => {
  const definitionOf = (text: string, shape?: (draft: CatalogDraft) => CatalogDraft) => {
    const listing = { ...listingOf('a', {}), tools: [rawItem('t', text)] };
    const { catalog } = built(new Map([['a', listing]]), shape === undefined ? {} : { shape });
    return catalog.visible('tool')[0]?.definition.toString();
  };
  const rename = (draft: CatalogDraft): CatalogDraft => ({
    ...draft,
    tools: draft.tools.map((tool) => renamed(tool, 'new', 'test')),
  });

  it('keeps every byte of an unchanged item', () => {
    expect(definitionOf(ODD)).toBe(ODD);
  });

  it('changes only its name when it is renamed', () => {
    expect(definitionOf('{"z":1e400,"name":"t","big":12345678901234567890123}', rename)).toBe(
      '{"z":1e400,"name":"new","big":12345678901234567890123}',
    );
  });

  it('gets the name that a plugin gave the entry alone', () => {
    const shape = (draft: CatalogDraft) => ({ ...draft, tools: draft.tools.map((tool) => ({ ...tool, key: 'k' })) });
    expect(definitionOf('{"name":"t"}', shape)).toBe('{"name":"k"}');
  });

  proves('choice.definition.reserved-meta', 'keeps _meta with reserved keys, byte for byte', () => {
    const kept = '"ui/x":1,"io.modelcontextprotocol/ui":{"resourceUri":"ui://a"},"com.mcp.example/y":[]';
    const text = `{"name":"t","_meta":{"io.modelcontextprotocol/serverInfo":{},${kept},"progressToken":7}}`;
    expect(definitionOf(text)).toBe(text);
    expect(definitionOf('{"name":"t","_meta":{ }}')).toBe('{"name":"t","_meta":{ }}');
  });

  it('is the same object after a rebuild from the same listing', () => {
    const listings = listingsOf({ a: { tools: ['t'] } });
    const [first, second] = [built(listings, { shape: rename }), built(listings, { shape: rename })];
    expect(first.catalog.find('tool', 'new')?.definition).toBe(second.catalog.find('tool', 'new')?.definition);
  });
});

function virtualTool(name: string): ToolEntry {
  return {
    kind: 'tool',
    key: name,
    backend: 'zz/virtual',
    original: name,
    definition: Buffer.from(JSON.stringify({ name, inputSchema: { type: 'object' } })),
    shapedBy: [],
    run: () => Promise.reject(new Error('never called')),
  };
}
