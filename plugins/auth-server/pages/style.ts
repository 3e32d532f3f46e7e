import { createHash } from 'node:crypto';

/** The style sheet of all pages: light and dark, contrast of at least 4.5 to 1, targets of at least 44 pixels. */
export const STYLE = `
:root { color-scheme: light dark; --text: #1b1f24; --muted: #4d5761; --page: #f5f6f8; --card: #ffffff; --line: #c3cad2;
  --strong: #0b57c2; --on-strong: #ffffff; --danger: #a3151b; --note: #fff4d6; }
@media (prefers-color-scheme: dark) { :root { --text: #e8ebef; --muted: #aeb8c2; --page: #14171a; --card: #1e2327;
  --line: #4a545e; --strong: #8db9ff; --on-strong: #0d1a2b; --danger: #ff9c9c; --note: #3a3116; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 40rem; margin: 0 auto; padding: 2rem 1rem 4rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 0 0 .5rem; }
p, ul, dl { margin: 0 0 1rem; }
a { color: var(--strong); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: 1rem; margin: 0 0 1rem; }
.card > :last-child { margin-bottom: 0; }
.note { background: var(--note); border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem; }
.list { list-style: none; padding: 0; }
dl { display: grid; grid-template-columns: minmax(7rem, max-content) 1fr; gap: .25rem 1rem; }
dt { color: var(--muted); }
dd { margin: 0; }
.small { color: var(--muted); font-size: .9rem; }
.choices { display: flex; flex-wrap: wrap; gap: .75rem; }
button, .button { display: inline-block; min-height: 2.75rem; padding: .5rem 1.25rem; font: inherit; cursor: pointer;
  color: var(--text); background: var(--card); border: 1px solid var(--muted); border-radius: .4rem; text-decoration: none; }
button.strong, .button.strong { color: var(--on-strong); background: var(--strong); border-color: var(--strong); }
button.danger { color: var(--danger); border-color: var(--danger); }
:focus-visible { outline: 3px solid var(--strong); outline-offset: 2px; }
@media (max-width: 30rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .5rem; } }
`;

/** The source expression of {@link STYLE} in a content security policy. */
export const STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;
