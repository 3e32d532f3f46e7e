import type { ComponentChildren, JSX } from 'preact';

/** Parameters of {@link Table}. */
export interface TableProps {
  /** What the table lists; only screen readers read it. */
  readonly title: string;
  readonly columns: readonly string[];
  /** The rows: `tr` elements with one cell per column. */
  readonly children: ComponentChildren;
}

/** A table that scrolls sideways on narrow screens. */
export function Table({ title, columns, children }: TableProps): JSX.Element {
  return (
    <div class="scroll">
      <table>
        <caption class="hidden">{title}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
