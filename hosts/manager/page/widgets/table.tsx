import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

/** Parameters of {@link Table}. */
export interface TableProps<Item> {
  /** What the table lists; only screen readers read it. */
  readonly title: string;
  /** The titles of the columns, and how wide each is on a wide screen; the columns with `''` share what is left. */
  readonly columns: Readonly<Record<string, ColumnWidth>>;
  readonly items: readonly Item[];
  /** The row of an item: a `tr` element with a key and one cell per column. */
  readonly row: (item: Item) => JSX.Element;
}

/** A class of `style/parts.css`. */
export type ColumnWidth = '' | 'wide' | 'medium' | 'narrow' | 'action' | 'actions';

/** A table of any length: only the rows near the window are elements, the others keep their place. */
export function Table<Item>({ title, columns, items, row }: TableProps<Item>): JSX.Element {
  const rowHeight = useSignal(USUAL_HEIGHT);
  // buttons say what they do
  const titles = Object.entries(columns).map(([title, width]) => (width.startsWith('action') ? undefined : title));
  const starts = Array.from({ length: Math.ceil(items.length / PART) }, (_, part) => part * PART);
  return (
    <div class="scroll">
      <table aria-rowcount={starts.length > 1 ? items.length + 1 : undefined}>
        <caption class="hidden">{title}</caption>
        <colgroup>
          {Object.entries(columns).map(([column, width]) => (
            <col key={column} class={width} />
          ))}
        </colgroup>
        <thead>
          <tr>
            {Object.keys(columns).map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        {starts.map((start) => (
          <Part
            key={start}
            start={start}
            items={items.slice(start, start + PART)}
            row={row}
            titles={titles}
            rowHeight={rowHeight}
            isOnly={starts.length === 1}
          />
        ))}
      </table>
    </div>
  );
}

interface PartProps<Item> extends Pick<TableProps<Item>, 'items' | 'row'> {
  /** Of the columns; a narrow screen has them in front of the texts of a row. */
  readonly titles: readonly (string | undefined)[];
  /** Position of its first item in the table. */
  readonly start: number;
  /** Height of a row in pixels, as the first part has it. */
  readonly rowHeight: Signal<number>;
  readonly isOnly: boolean;
}

/** Some rows of a table; far from the window an empty row of their height. A part that has the focus stays. */
function Part<Item>({ start, items, row, titles, rowHeight, isOnly }: PartProps<Item>): JSX.Element {
  const body = useRef<HTMLTableSectionElement>(null);
  const isNear = useSignal(start === 0);
  const height = useRef<number>(undefined);
  useEffect(() => {
    const { current } = body;
    if (isOnly || current === null) return undefined;
    const watcher = new IntersectionObserver(
      (entries) => {
        const isClose = entries.at(-1)?.isIntersecting === true;
        if (isNear.value && !isClose) {
          if (current.contains(document.activeElement)) return;
          height.current = current.offsetHeight;
        }
        isNear.value = isClose;
      },
      { rootMargin: NEAR },
    );
    watcher.observe(current);
    return () => watcher.disconnect();
  }, [isOnly]);
  const isShown = isNear.value || isOnly;
  useLayoutEffect(() => {
    const { current } = body;
    if (!isShown || current === null) return;
    for (const [at, element] of [...current.rows].entries()) {
      if (!isOnly) element.ariaRowIndex = String(start + at + 2);
      for (const [column, title] of titles.entries()) {
        const cell = element.cells[column];
        if (title !== undefined && cell?.tagName === 'TD') cell.dataset.title = title;
      }
    }
    if (!isOnly && start === 0 && current.offsetHeight > 0) rowHeight.value = current.offsetHeight / items.length;
  });
  return (
    <tbody ref={body}>
      {isShown ? items.map(row) : <tr style={{ height: `${height.current ?? rowHeight.value * items.length}px` }} />}
    </tbody>
  );
}

/** Items of one part. */
const PART = 25;
/** Rows this far from the window are there before they are seen. */
const NEAR = '800px 0px';
const USUAL_HEIGHT = 46; // pixels
