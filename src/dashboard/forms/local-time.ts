// Times as fields of the browser take them: local, without a zone.

/** To the second, and finer where the time is. */
export function localInput(time: string): string {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return time
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString()
  return shifted.slice(0, 23).replace(/(?::00)?\.000$/, '')
}

/** What cannot be read stays as it is. */
export function isoTime(local: string): string {
  const at = new Date(local)
  return Number.isNaN(at.getTime()) ? local : at.toISOString()
}
