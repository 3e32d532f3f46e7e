import type { Page } from 'playwright-core';

/** The widths at which views are looked at: a telephone, a small and a large screen. */
export const WIDTHS = [390, 1280, 1920] as const;

/**
 * What is wrong with the layout of an open view, one sentence each: a page or a table that is wider than its place, a control that
 * is cut off, a name that is broken into syllables.
 */
export function layoutFindings(page: Page): Promise<readonly string[]> {
  return page.evaluate<string[]>(FINDINGS);
}

/** A word of letters and digits with at most this many characters is in one line. */
const LONGEST_WHOLE = 22;
/** A longer word that is broken has at least this many characters for each line. */
const FEWEST = 9;

const FINDINGS = `(() => {
  const found = [];
  const short = (text) => text.length > 60 ? text.slice(0, 57) + '...' : text;
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) found.push('the page is wider than the window');
  for (const place of document.querySelectorAll('.scroll')) {
    if (place.scrollWidth > place.clientWidth) found.push('a table is ' + (place.scrollWidth - place.clientWidth) + ' px wider than its place');
  }
  for (const control of document.querySelectorAll('main button, main a, main input, main select, main textarea, dialog button, dialog input')) {
    const box = control.getBoundingClientRect();
    if (box.width === 0 || control.closest('.hidden, .skip')) continue;
    for (let at = control.parentElement; at !== null; at = at.parentElement) {
      const { overflowX } = getComputedStyle(at);
      if (overflowX === 'visible' && at !== document.body) continue;
      const limit = at.getBoundingClientRect();
      if (box.right > limit.right + 1 || box.left < limit.left - 1) {
        found.push('cut off: ' + control.tagName + ' ' + short(control.textContent || control.id));
        break;
      }
    }
  }
  const texts = document.createTreeWalker(document.querySelector('#page'), NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    if (node.parentElement.closest('.hidden, .code-block, .log, textarea, select, .diff, .readme')) continue;
    if (node.data.length > 5000) continue;
    for (const { 0: word, index } of node.data.matchAll(/[A-Za-z0-9]+/g)) {
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const lines = new Set([...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => Math.round(top))).size;
      if (lines > (word.length <= ${LONGEST_WHOLE} ? 1 : Math.floor(word.length / ${FEWEST}))) found.push('in ' + lines + ' lines: ' + short(word));
    }
  }
  return [...new Set(found)].slice(0, 20);
})()`;
