import { signal } from '@preact/signals';

/** `system` follows the setting of the browser. */
export type Theme = 'system' | 'light' | 'dark';

export const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

const STORED = 'toolmgr-theme';

export const theme = signal<Theme>(readStored());

/** Applies the kept choice. */
export function applyTheme(): void {
  const { dataset } = document.documentElement;
  if (theme.value === 'system') delete dataset.theme;
  else dataset.theme = theme.value;
}

/** Keeps and applies a choice. */
export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  localStorage.setItem(STORED, chosen);
  applyTheme();
}

function readStored(): Theme {
  const stored = localStorage.getItem(STORED);
  return THEMES.find((known) => known === stored) ?? 'system';
}
