// Dialogs on the browser's own <dialog>: it keeps the focus inside, gives it back, and closes on Esc.

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
  readonly footer?: ComponentChildren
  readonly size?: 'small' | 'large'
}

export function Dialog({ title, onClose, children, footer, size = 'small' }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const before = document.activeElement
    element.current?.showModal()
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  const clickedBeside = (event: MouseEvent) => {
    if (event.target === element.current) onClose()
  }
  return (
    <dialog
      ref={element}
      class={`dialog ${size}`}
      aria-labelledby={id}
      onClose={onClose}
      onMouseDown={clickedBeside}
    >
      <div class="dialog-inside">
        <header>
          <h2 id={id}>{title}</h2>
          <button type="button" class="bare" aria-label="Close" onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
        <div class="dialog-body">{children}</div>
        {footer !== undefined && <footer>{footer}</footer>}
      </div>
    </dialog>
  )
}

interface ConfirmProps {
  readonly title: string
  readonly children: ComponentChildren
  /** Names what will happen: `Delete 3 jobs`. */
  readonly label: string
  readonly isDangerous?: boolean
  readonly isBusy?: boolean
  readonly isReady?: boolean
  readonly onClose: () => void
  readonly onConfirm: () => void
}

export function Confirm(props: ConfirmProps) {
  const { title, children, label, isDangerous = false, isBusy = false, isReady = true } = props
  const submit = (event: Event) => {
    event.preventDefault()
    props.onConfirm()
  }
  return (
    <Dialog title={title} onClose={props.onClose}>
      <form onSubmit={submit} class="stack">
        {children}
        <div class="row end">
          <button type="button" class="button" onClick={props.onClose}>
            Keep as it is
          </button>
          <button
            type="submit"
            class={`button ${isDangerous ? 'danger' : 'primary'}`}
            disabled={isBusy || !isReady}
          >
            {isBusy ? 'Working…' : label}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
