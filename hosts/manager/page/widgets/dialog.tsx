import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Name } from './name.tsx';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly wide?: boolean;
}

/** A modal dialog. The browser keeps the focus inside, closes it with Escape and gives the focus back after it. */
export function Dialog({ title, onClose, children, wide }: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const cancel = (event: Event): void => {
    event.preventDefault();
    onClose();
  };
  return (
    <dialog ref={dialog} class={wide ? 'wide' : ''} aria-labelledby={heading} onCancel={cancel}>
      <header>
        <h2 id={heading}>
          <Name text={title} />
        </h2>
        <button type="button" class="quiet" aria-label="Close" onClick={onClose}>
          ×
        </button>
      </header>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  readonly action: string;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Asks before something is destroyed. The button that keeps everything has the focus. */
export function Confirm({ title, action, onConfirm, onClose, children }: ConfirmProps): JSX.Element {
  const keep = useRef<HTMLButtonElement>(null);
  useEffect(() => keep.current?.focus(), []);
  const confirm = (): void => {
    onClose();
    onConfirm();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <footer class="buttons">
        <button type="button" ref={keep} onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="danger" onClick={confirm}>
          {action}
        </button>
      </footer>
    </Dialog>
  );
}
