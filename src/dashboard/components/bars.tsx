// A strip of bars: counts over time.

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
