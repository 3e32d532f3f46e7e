import type { Offer } from './offer.ts';

/** What every view gets. `parts` is the rest of the address after the view. */
export interface ViewProps {
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
  readonly offer: Offer;
}
