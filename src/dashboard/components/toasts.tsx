// Short messages at the edge of the screen: what was done is said politely, what failed at once.

import { signal } from '@preact/signals'
import { after } from '../clock.ts'
import { Icon } from './icon.tsx'

interface Toast {
  readonly id: number
  readonly text: string
  readonly kind: 'done' | 'problem'
  readonly label?: string
  readonly act?: () => void
}

const SHOWN_MS = 10_000
const SHOWN_MAX = 4
const toasts = signal<readonly Toast[]>([])
let last = 0

export function toast(text: string, more: Partial<Omit<Toast, 'id' | 'text'>> = {}): void {
  const made: Toast = { kind: 'done', ...more, id: ++last, text }
  toasts.value = [...toasts.value, made].slice(-SHOWN_MAX)
  after(SHOWN_MS, () => remove(made.id))
}

function remove(id: number): void {
  toasts.value = toasts.value.filter(one => one.id !== id)
}

export function Toasts() {
  const shown = toasts.value
  const of = (kind: Toast['kind']) => shown.filter(one => one.kind === kind).map(line)
  return (
    <div class="toasts">
      <div role="status" aria-live="polite">
        {of('done')}
      </div>
      <div role="alert" aria-live="assertive">
        {of('problem')}
      </div>
    </div>
  )
}

function line({ id, text, kind, label, act }: Toast) {
  const chosen = () => {
    remove(id)
    act?.()
  }
  return (
    <div key={id} class={`toast ${kind}`}>
      <span>{text}</span>
      {label !== undefined && (
        <button type="button" class="link" onClick={chosen}>
          {label}
        </button>
      )}
      <button type="button" class="bare" aria-label="Dismiss" onClick={() => remove(id)}>
        <Icon name="close" />
      </button>
    </div>
  )
}
