// Small parts that pages share: links, text to copy, JSON, keys, ranges, tiny charts.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { after } from '../clock.ts'
import { paths, pathTo } from '../paths.ts'
import { href } from '../place.ts'
import { Icon } from './icon.tsx'

export function JobLink({ id, name }: { readonly id: string; readonly name: string }) {
  return (
    <a class="job-link" href={href(pathTo('job', { id }))}>
      {name}
    </a>
  )
}

/** Where a run is shown; null while there is no page for runs. */
export function runHref(id: string): string | null {
  const pattern = Object.entries<string>(paths).find(([name]) => name === 'run')?.[1]
  return pattern === undefined ? null : href(pattern.replace(':id', encodeURIComponent(id)))
}

/** A key on the keyboard. */
export function Key({ children }: { readonly children: ComponentChildren }) {
  return <kbd>{children}</kbd>
}

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

interface SegmentsProps<V extends string> {
  readonly label: string
  readonly value: V
  readonly options: readonly (readonly [value: V, label: string])[]
  readonly onChange: (value: V) => void
}

/** A few choices side by side, one of them made. */
export function Segments<V extends string>(props: SegmentsProps<V>) {
  const { label, value, options, onChange } = props
  return (
    <div class="segments" role="group" aria-label={label}>
      {options.map(([one, text]) => (
        <button key={one} type="button" aria-pressed={one === value} onClick={() => onChange(one)}>
          {text}
        </button>
      ))}
    </div>
  )
}

interface BarsProps {
  readonly counts: readonly number[]
  readonly label: string
  readonly titleOf?: (at: number) => string
  readonly height?: number
  /** Bars drawn in the colour of warnings. */
  readonly isMarked?: (at: number) => boolean
  /** Bars that may be higher than they are drawn: hatched. */
  readonly isUnknown?: (at: number) => boolean
  /** Shares of each bar that failed, drawn on top. */
  readonly failed?: readonly number[]
}

/** Slanted lines over one place of a strip. */
function hatch(x: number, width: number, height: number): string {
  const lines: string[] = []
  for (let y = 6; y <= height; y += 6) lines.push(`M${x} ${y}l${width} -6`)
  return lines.join('')
}

/** A strip of bars that fills its place; empty ones keep a foot, so that the axis is seen. */
export function Bars({
  counts,
  label,
  titleOf,
  height = 40,
  isMarked,
  isUnknown,
  failed,
}: BarsProps) {
  const most = Math.max(1, ...counts)
  const step = 10
  return (
    <svg
      class="bars"
      viewBox={`0 0 ${counts.length * step} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {counts.map((count, at) => {
        const tall = count === 0 ? 1 : Math.max(3, (count / most) * height)
        const wrong = failed?.[at] ?? 0
        const red = wrong === 0 ? 0 : Math.max(3, (wrong / most) * height)
        return (
          <g key={at}>
            {titleOf && <title>{titleOf(at)}</title>}
            {isUnknown?.(at) === true && <path class="hatch" d={hatch(at * step, step, height)} />}
            <rect
              class={count === 0 ? 'none' : isMarked?.(at) ? 'marked' : 'some'}
              x={at * step + 1}
              y={height - tall}
              width={step - 2}
              height={tall}
            />
            {red > 0 && (
              <rect
                class="wrong"
                x={at * step + 1}
                y={height - tall}
                width={step - 2}
                height={red}
              />
            )}
          </g>
        )
      })}
    </svg>
  )
}
