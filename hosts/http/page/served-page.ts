import { readFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { gunzipSync } from 'node:zlib';
import type { PackedFile, PackedPage } from './packed-page.ts';

/** What a host offers on the page; the page reads it from `/page.json`. */
export interface PageOffer {
  /** Names of the views in their order; the first one is shown first. */
  readonly views: readonly string[];
  /** Those that plugins add, by name: the path of `module` is served by the host. */
  readonly added?: Readonly<Record<string, { readonly title: string; readonly module: string }>>;
  /** How the API is called: with a bearer token that the person gives, or without. */
  readonly signIn: 'token' | 'none';
  /** Nothing can be changed: the page hides what changes something. */
  readonly readOnly: boolean;
  /** Paths of the only endpoint of this host; the manager has one for each group and workload instead. */
  readonly endpoint?: { readonly view: string; readonly calls: string; readonly mcp: string };
}

/** Answer to a request for a file of the page. */
export interface PageAnswer {
  readonly status: 200 | 304;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

/** Answers GET and HEAD of the page's files. */
export interface ServedPage {
  /** `undefined` when the path is none of the page. */
  answer(path: string, headers: IncomingHttpHeaders): PageAnswer | undefined;
  readonly paths: readonly string[];
}

/**
 * Headers of every file. Scripts and styles come from the host only, no script makes HTML from text (Trusted Types), no
 * other site frames the page, and its address is told to no other site. Results of tools may be shown as images and sound.
 */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'self'",
    "img-src 'self' data: blob:",
    "media-src 'self' data: blob:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/**
 * Loads the page for a host. In a package it was built before; in a checkout it is built when it is first asked for, and
 * again after its sources changed.
 */
export async function loadPage(offer: PageOffer): Promise<ServedPage> {
  packed ??= readOrBuild();
  const { files } = await packed;
  const byPath = new Map(files.map((file) => [file.path, prepare(file)]));
  const offered: Prepared = {
    type: 'application/json',
    forms: { identity: Buffer.from(JSON.stringify(offer)) },
    cache: 'no-store',
  };
  byPath.set('/page.json', offered);
  return {
    paths: [...byPath.keys()],
    answer: (path, headers) => {
      const file = byPath.get(path);
      return file === undefined ? undefined : answerWith(file, headers);
    },
  };
}

let packed: Promise<PackedPage> | undefined;

const IS_CHECKOUT = import.meta.url.endsWith('.ts');

function readOrBuild(): Promise<PackedPage> {
  const loading = IS_CHECKOUT
    ? buildNow()
    : readPacked(new URL('../../manager/page/packed-page.json', import.meta.url));
  loading.catch(() => {
    packed = undefined; // the next request tries again
  });
  return loading;
}

async function readPacked(file: URL): Promise<PackedPage> {
  return JSON.parse(await readFile(file, 'utf8')) as PackedPage;
}

/** The builder is no part of a package: its path is computed, so that no tool follows it. */
async function buildNow(): Promise<PackedPage> {
  const builder = new URL('../../../scripts/page/build-page.ts', import.meta.url).href;
  const { buildPage } = (await import(builder)) as { readonly buildPage: () => Promise<PackedPage> };
  return buildPage();
}

interface Prepared {
  readonly type: string;
  readonly etag?: string;
  readonly cache: string;
  readonly forms: { readonly br?: Buffer; readonly gzip?: Buffer; readonly identity: Buffer };
}

function prepare(file: PackedFile): Prepared {
  const gzip = Buffer.from(file.gzip, 'base64');
  return {
    type: file.mediaType,
    etag: file.etag,
    cache: file.path === '/' ? 'no-cache' : 'public, max-age=31536000, immutable',
    forms: { br: Buffer.from(file.brotli, 'base64'), gzip, identity: gunzipSync(gzip) },
  };
}

function answerWith({ type, etag, cache, forms }: Prepared, headers: IncomingHttpHeaders): PageAnswer {
  const shared = {
    ...PAGE_HEADERS,
    'cache-control': cache,
    vary: 'accept-encoding',
    ...(etag === undefined ? {} : { etag }),
  };
  if (etag !== undefined && headers['if-none-match']?.includes(etag)) {
    return { status: 304, headers: shared, body: undefined };
  }
  const encoding = encodingFor(String(headers['accept-encoding'] ?? ''), forms);
  const body = encoding === undefined ? forms.identity : (forms[encoding] ?? forms.identity);
  return {
    status: 200,
    headers: {
      ...shared,
      'content-type': type,
      'content-length': String(body.length),
      ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
    },
    body,
  };
}

function encodingFor(accepted: string, forms: Prepared['forms']): 'br' | 'gzip' | undefined {
  const names = accepted
    .toLowerCase()
    .split(',')
    .map((part) => part.trim());
  const accepts = (name: string): boolean =>
    names.some((part) => part.split(';')[0] === name && !/;\s*q=0(\.0*)?$/.test(part));
  if (forms.br !== undefined && accepts('br')) return 'br';
  return forms.gzip !== undefined && accepts('gzip') ? 'gzip' : undefined;
}
