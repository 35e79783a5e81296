// Asks Intl for offsets and narrows down where they change. Slow: only zone.ts calls it.

/** UTC second to offset in seconds. */
export type Probe = (second: number) => number

/** The first second in (from, to] with another offset than at `from`, or null. */
export function firstChange(probe: Probe, from: number, to: number, offset: number): number | null {
  if (probe(to) === offset) return null
  const quarter = Math.ceil(bisect(probe, { from, to, offset, unit: 900 }) / 900) * 900
  // All changes of our time fall on quarter hours; older ones are looked for by the second.
  const exact = quarter <= to && probe(quarter) !== offset && probe(quarter - 1) === offset
  return exact ? quarter : bisect(probe, { from, to, offset, unit: 1 })
}

// Narrows (from, to] until no more than `unit` seconds are left and returns the upper end.
function bisect(
  probe: Probe,
  { from, to, offset, unit }: { from: number; to: number; offset: number; unit: number },
): number {
  let same = from
  let other = to
  while (other - same > unit) {
    const middle = same + Math.max(1, Math.floor((other - same) / 2 / unit)) * unit
    if (probe(middle) === offset) same = middle
    else other = middle
  }
  return other
}

/** Null for a zone this runtime does not know. */
export function offsetProbe(name: string): Probe | null {
  let format: Intl.DateTimeFormat
  try {
    // States the offset itself ('GMT+05:45', 'GMT-00:44:30'), so no clock face needs to be read
    // back and 12- or 24-hour habits of a locale cannot interfere.
    const timeZoneName = 'longOffset'
    format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName, hour: '2-digit' })
  } catch {
    return null
  }
  const known = new Map<string, number>()
  return second => {
    const text = format.format(second * 1000)
    const tail = text.slice(text.lastIndexOf('GMT'))
    let offset = known.get(tail)
    if (offset === undefined) {
      offset = readOffset(tail)
      known.set(tail, offset)
    }
    return offset
  }
}

function readOffset(text: string): number {
  const found = /^GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text)
  if (found === null) throw new Error(`Intl gave no offset but ${text}`)
  const [, sign, hours, minutes, seconds] = found
  if (sign === undefined) return 0
  const size = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds ?? 0)
  return sign === '-' ? -size : size
}
