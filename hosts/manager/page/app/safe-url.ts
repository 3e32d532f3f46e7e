/** The URL when a link may lead there: `http` and `https` only. A text such as `javascript:…` gives `undefined`. */
export function safeUrl(text: string | undefined): string | undefined {
  const url = text === undefined ? null : URL.parse(text);
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:') ? url.href : undefined;
}
