/** The built page: what `prepack` writes and the host serves. */
export interface PackedPage {
  /** Digest of the sources that it was built from. */
  readonly sources: string;
  readonly files: readonly PackedFile[];
}

/** One file of the page. The plain form is made from `gzip` for the rare client that accepts neither. */
export interface PackedFile {
  /** `/` for the document, else a path with a digest in its name, e.g. `/assets/index-B1x2.js`. */
  readonly path: string;
  readonly mediaType: string;
  readonly etag: string;
  /** Size without compression. */
  readonly bytes: number;
  /** Base64. */
  readonly gzip: string;
  /** Base64. */
  readonly brotli: string;
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

/** The media type of a file of the page by its name. */
export function mediaTypeOf(name: string): string {
  return MEDIA_TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
}
