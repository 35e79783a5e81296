// A choice of a few, side by side.

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
