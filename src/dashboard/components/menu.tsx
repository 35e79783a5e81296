// A button that opens a short list of actions; arrows move in it, Esc closes it.

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'

export interface MenuItem {
  readonly label: ComponentChildren
  readonly onSelect: () => void
  readonly isDangerous?: boolean
  readonly isCurrent?: boolean
}

interface MenuProps {
  readonly label: ComponentChildren
  /** Said before the label to those who cannot see where it stands. */
  readonly name?: string
  readonly look?: string
  readonly items: readonly MenuItem[]
  readonly note?: ComponentChildren
}

export function Menu({ label, name, look = 'button', items, note }: MenuProps) {
  const [isOpen, setOpen] = useState(false)
  const root = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const id = useId()
  useEffect(() => {
    if (!isOpen) return
    focusAt(root.current, 0)
    const beside = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false)
    }
    addEventListener('pointerdown', beside)
    addEventListener('focusin', beside)
    return () => {
      removeEventListener('pointerdown', beside)
      removeEventListener('focusin', beside)
    }
  }, [isOpen])
  const keyed = (event: KeyboardEvent) => {
    if (!isOpen) return
    if (event.key === 'Escape') {
      setOpen(false)
      button.current?.focus()
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      move(root.current, event.key === 'ArrowDown' ? 1 : -1)
    } else return
    event.preventDefault()
    event.stopPropagation()
  }
  const chosen = (item: MenuItem) => {
    setOpen(false)
    button.current?.focus()
    item.onSelect()
  }
  return (
    <div class="menu" ref={root} onKeyDown={keyed}>
      <button
        ref={button}
        type="button"
        class={look}
        title={name}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        {name !== undefined && <span class="away-from-sight">{name} </span>}
        {label}
      </button>
      {isOpen && (
        <div class="menu-list" id={id}>
          <div role="menu" aria-label={name ?? 'Actions'}>
            {items.map((item, at) => (
              <button
                key={at}
                type="button"
                role="menuitem"
                tabIndex={-1}
                aria-current={item.isCurrent ? 'true' : undefined}
                class={item.isDangerous ? 'dangerous' : undefined}
                onClick={() => chosen(item)}
              >
                {item.label}
              </button>
            ))}
          </div>
          {note !== undefined && <p class="menu-note">{note}</p>}
        </div>
      )}
    </div>
  )
}

function entries(root: HTMLElement | null): HTMLElement[] {
  return [...(root?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])]
}

function focusAt(root: HTMLElement | null, at: number): void {
  const all = entries(root)
  all.at(at % all.length)?.focus()
}

function move(root: HTMLElement | null, by: number): void {
  const all = entries(root)
  const at = all.findIndex(one => one === document.activeElement)
  focusAt(root, at + by)
}
