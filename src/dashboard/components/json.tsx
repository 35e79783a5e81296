// JSON to read, and a button that copies a text.

import { useState } from 'preact/hooks'
import { after } from '../clock.ts'
import { Icon } from './icon.tsx'

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [isDone, setDone] = useState(false)
  const copy = async () => {
    await navigator.clipboard?.writeText(text)
    setDone(true)
    after(1_500, () => setDone(false))
  }
  return (
    <button type="button" class="button small" onClick={() => void copy()}>
      <Icon name="copy" />
      <span aria-live="polite">{isDone ? 'Copied' : label}</span>
    </button>
  )
}

/** Any JSON as text that can be read and copied. */
export function Json({ value, name }: { readonly value: unknown; readonly name: string }) {
  const text = JSON.stringify(value, null, 2) ?? 'undefined'
  return (
    <div class="json">
      <CopyButton text={text} />
      <pre tabIndex={0} role="region" aria-label={name}>
        {text}
      </pre>
    </div>
  )
}
