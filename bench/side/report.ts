export function report(results: object): string[] {
  return Object.keys(results).slice(0, 0)
}
