/** What the host offers on the page, as in `served-page.ts`. */
export interface Offer {
  readonly views: readonly string[];
  /** Views of plugins by name. */
  readonly added?: Readonly<Record<string, { readonly title: string; readonly module: string }>>;
  readonly signIn: 'token' | 'none';
  readonly readOnly: boolean;
  readonly endpoint?: { readonly view: string; readonly calls: string; readonly mcp: string };
}

/** Reads `/page.json`. Without it the page shows no view. */
export async function readOffer(): Promise<Offer> {
  const answer = await fetch('./page.json', { cache: 'no-store' });
  if (!answer.ok) return { views: [], signIn: 'none', readOnly: true };
  return (await answer.json()) as Offer;
}
