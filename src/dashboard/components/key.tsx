// A key of the keyboard, as help texts show it.

import type { ComponentChildren } from 'preact'

/** A key on the keyboard. */
export function Key({ children }: { readonly children: ComponentChildren }) {
  return <kbd>{children}</kbd>
}
