// Glyphs of states, and the badge made of a glyph and a word.

import type { ComponentChildren, JSX } from 'preact'
import { lookOf, type GlyphName, type StateLook } from './states.ts'

/** On a field of 16 × 16; `cut` marks are drawn in the colour behind. */
const shapes: Readonly<Record<GlyphName, JSX.Element>> = {
  check: (
    <>
      <circle cx="8" cy="8" r="7" />
      <path class="cut" d="M4.8 8.3l2.2 2.2 4.3-4.7" />
    </>
  ),
  cross: (
    <>
      <circle cx="8" cy="8" r="7" />
      <path class="cut" d="M5.6 5.6l4.8 4.8m0-4.8l-4.8 4.8" />
    </>
  ),
  dead: (
    <>
      <rect x="1.5" y="1.5" width="13" height="13" rx="2.5" />
      <path class="cut" d="M5.4 5.4l5.2 5.2m0-5.2l-5.2 5.2" />
    </>
  ),
  play: (
    <>
      <circle cx="8" cy="8" r="7" />
      <path class="cut filled" d="M6.4 5.2v5.6l4.6-2.8z" />
    </>
  ),
  again: <path class="line" d="M13 8a5 5 0 1 1-1.6-3.7M13.2 2.2v2.9h-2.9" />,
  clock: (
    <g class="line">
      <circle cx="8" cy="8" r="6.2" />
      <path d="M8 4.6V8l2.3 1.6" />
    </g>
  ),
  dash: (
    <g class="line">
      <circle cx="8" cy="8" r="6.2" stroke-dasharray="2.6 2.2" />
      <path d="M5.4 8h5.2" />
    </g>
  ),
  pause: (
    <g class="line">
      <circle cx="8" cy="8" r="6.2" stroke-dasharray="2.6 2.2" />
      <path d="M6.5 5.8v4.4m3-4.4v4.4" />
    </g>
  ),
  barred: (
    <g class="line">
      <circle cx="8" cy="8" r="6.2" />
      <path d="M3.8 12.2l8.4-8.4" />
    </g>
  ),
}

export function Glyph({ look }: { readonly look: StateLook }) {
  return (
    <svg class={`glyph s-${look.family}`} viewBox="0 0 16 16" aria-hidden="true">
      {shapes[look.glyph]}
    </svg>
  )
}

interface BadgeProps {
  readonly state?: string
  readonly look?: StateLook
  readonly children?: ComponentChildren
}

/** A glyph with its word; the word may be given, otherwise it is that of the state. */
export function StateBadge({ state, look = lookOf(state ?? ''), children }: BadgeProps) {
  return (
    <span class={`badge s-${look.family}`}>
      <Glyph look={look} />
      <span>{children ?? look.label}</span>
    </span>
  )
}
