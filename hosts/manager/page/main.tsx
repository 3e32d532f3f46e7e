import { render } from 'preact';
import { readOffer } from './app/offer.ts';
import { signInFromAddress } from './app/session.ts';
import { Shell } from './app/shell.tsx';
import { applyTheme } from './app/theme.ts';
import { viewOf } from './app/views.ts';

applyTheme();

const root = document.getElementById('page');
if (root !== null) {
  const [offer] = await Promise.all([readOffer(), signInFromAddress()]);
  const views = offer.views.filter((name) => viewOf(name, offer) !== undefined);
  render(<Shell offer={{ ...offer, views }} />, root);
}
